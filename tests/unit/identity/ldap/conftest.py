"""One directory server for the tests of the LDAP client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.services.slapd import Slapd


@pytest.fixture(scope="session")
def directory() -> Iterator[Slapd]:
    with Slapd.running() as server:
        yield server
