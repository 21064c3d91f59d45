"""Distinguished names are compared as servers mean them, however they are written."""

from __future__ import annotations

import pytest

from app.identity.platform.ldap import distinguished_names

STAFF = r"cn=Staff\, all,ou=groups,dc=corp,dc=test"


@pytest.mark.parametrize(
    "other",
    [
        r"CN=staff\2c all,OU=Groups,DC=corp,DC=test",
        r"cn=Staff\, all, ou=groups, dc=corp, dc=test",
        'cn="Staff, all",ou=groups,dc=corp,dc=test',
    ],
)
def test_other_spellings_are_the_same_name(other: str) -> None:
    assert distinguished_names.comparable(other) == distinguished_names.comparable(STAFF)
    assert distinguished_names.first_value(other) == "staff, all"


@pytest.mark.parametrize("other", ["cn=Staff,ou=groups,dc=corp,dc=test", "staff, all", "", "cn=Staff\\", "=", "\x00"])
def test_other_names_and_texts_differ(other: str) -> None:
    assert distinguished_names.comparable(other) != distinguished_names.comparable(STAFF)
    assert distinguished_names.first_value(other) != "staff, all"
