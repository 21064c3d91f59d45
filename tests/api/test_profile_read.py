"""The signed-in account reads its profile: GET /identity/v2/auth/account."""

from typing import Any

import pytest

from app.contract.profile import FIELDS
from tests.support.tenant_server import TenantServer, answered, refused

PROFILE = "/identity/v2/auth/account"


@pytest.fixture
def ada(acme: TenantServer) -> dict[str, Any]:
    return acme.create(FirstName="Ada", LastName="Lovelace", BirthDate="12-10-1815", Country="Germany")


@pytest.fixture
def token(acme: TenantServer, ada: dict[str, Any]) -> str:
    return str(acme.tokens(ada["Uid"])["access_token"])


def test_the_profile_holds_every_field_of_the_table(acme: TenantServer, ada: dict[str, Any], token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    assert set(profile) == set(FIELDS)
    assert profile == acme.read(ada["Uid"])


def test_what_is_not_known_is_null_false_or_zero(acme: TenantServer, token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    shown = (
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
    assert [profile[name] for name in shown] == [None, None, None, None, None, None, False, 0, None]


def test_the_computed_fields_follow_from_the_others(acme: TenantServer, token: str) -> None:
    profile = answered(acme.send("GET", PROFILE, bearer=token))
    assert (profile["FullName"], profile["Country"]["Code"], profile["ProfileCountry"]) == (
        "Ada Lovelace",
        "DE",
        "Germany",
    )
    assert int(profile["Age"]) >= 210
    assert (profile["Provider"], profile["SignupDate"]) == ("Email", profile["CreatedDate"])


def test_fields_choose_members_of_it(acme: TenantServer, token: str) -> None:
    assert answered(acme.send("GET", PROFILE, bearer=token, fields="FullName,Country(Code)")) == {
        "FullName": "Ada Lovelace",
        "Country": {"Code": "DE"},
    }


def test_the_profile_of_a_deleted_account_is_gone_with_its_token(
    acme: TenantServer, ada: dict[str, Any], token: str
) -> None:
    acme.send("DELETE", f"/identity/v2/manage/account/{ada['Uid']}")
    assert refused(acme.send("GET", PROFILE, bearer=token)) == (401, 1409)
