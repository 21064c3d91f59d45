"""Reading the own profile: GET /identity/v2/auth/account."""

from typing import Any

import pytest

from app.contract.profile import FIELDS
from tests.support.tenants.tenant_server import TenantServer, answered, refused

PROFILE = "/identity/v2/auth/account"


@pytest.fixture
def ada(acme: TenantServer) -> dict[str, Any]:
    return acme.create(FirstName="Ada", LastName="Lovelace", BirthDate="12-10-1815", Country="Germany")


@pytest.fixture
def token(acme: TenantServer, ada: dict[str, Any]) -> str:
    return str(acme.tokens(ada["Uid"])["access_token"])


def test_profile_has_every_declared_field(acme: TenantServer, ada: dict[str, Any], token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    assert set(profile) == set(FIELDS)
    assert profile == acme.read(ada["Uid"])


def test_unset_profile_fields_are_null_false_or_zero(acme: TenantServer, token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    unset = (
        "Roles",
        "Identities",
        "CustomFields",
        "Skills",
        "PIN",
        "NickName",
        "Hireable",
        "LikesCount",
        "UnverifiedEmail",
    )
    assert [profile[name] for name in unset] == [None, None, None, None, None, None, False, 0, None]


def test_computed_profile_fields_follow_other_fields(acme: TenantServer, token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    assert (profile["FullName"], profile["Country"]["Code"], profile["ProfileCountry"]) == (
        "Ada Lovelace",
        "DE",
        "Germany",
    )
    assert int(profile["Age"]) >= 210
    assert (profile["Provider"], profile["SignupDate"]) == ("Email", profile["CreatedDate"])


def test_fields_parameter_selects_profile_members(acme: TenantServer, token: str) -> None:
    assert answered(acme.send("GET", PROFILE, bearer=token, fields="FullName,Country(Code)")) == {
        "FullName": "Ada Lovelace",
        "Country": {"Code": "DE"},
    }


def test_token_of_deleted_account_cannot_read_profile(acme: TenantServer, ada: dict[str, Any], token: str) -> None:
    acme.send("DELETE", f"/identity/v2/manage/account/{ada['Uid']}")
    assert refused(acme.send("GET", PROFILE, bearer=token)) == (401, 1409)
