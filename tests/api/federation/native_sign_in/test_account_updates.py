"""A JWT provider decides about the address and fields of its accounts where it is set up so, and about nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import AppServer, an_app, jwt_sender
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, refused

ADA, NEW, DOMAIN = "ada@example.test", "ada.king@example.test", "example.test"
Token = Callable[..., str]


@pytest.fixture
def app(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> AppServer:
    return an_app(new_tenant_server, fake_provider)


def signs_in(app: AppServer, token: Token, **claims: Any) -> dict[str, Any]:
    return app.profile(app.ask("jwt", providername="Partner", id_token=token(**{"email_verified": True, **claims})))


def addresses(profile: dict[str, Any]) -> list[str]:
    return [item["Value"] for item in profile["Email"] or []]


def account(app: AppServer, email: str, **members: Any) -> str:
    body = {"Email": [{"Type": "Primary", "Value": email}], "EmailVerified": True, **members}
    return str(app.tenant.create(**body)["Uid"])


@pytest.mark.both_databases
@pytest.mark.parametrize("updates", [True, False])
def test_changed_email_changes_the_account(app: AppServer, *, updates: bool) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=updates)
    first = signs_in(app, token, email=ADA)
    assert addresses(first) == [ADA]
    later = signs_in(app, token, email="Ada.King@example.test")
    again = signs_in(app, token, email=NEW)
    assert later["Uid"] == again["Uid"] == first["Uid"]
    assert addresses(again) == (["Ada.King@example.test"] if updates else [ADA])
    assert again["EmailVerified"] is True


def test_former_address_is_free_and_notified(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    first = signs_in(app, token, email=ADA)
    signs_in(app, token, email=NEW)
    assert mails_to(app.tenant.services, app.tenant.tenant_id, ADA) != []
    assert account(app, ADA) != first["Uid"]


def test_further_addresses_stay(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    emails = [{"Type": "Primary", "Value": ADA}, {"Type": "Work", "Value": "ada@work.test"}]
    app.tenant.create(Email=emails, EmailVerified=True)
    signs_in(app, token, email=ADA)
    assert addresses(signs_in(app, token, email=NEW)) == [NEW, "ada@work.test"]


def test_account_without_address_gets_it(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    assert addresses(signs_in(app, token)) == []
    assert addresses(signs_in(app, token, email=ADA)) == [ADA]


CLAIMS: dict[str, dict[str, Any]] = {
    "unverified": {"email": NEW, "email_verified": False},
    "without a word about it": {"email": NEW, "email_verified": None},
    "of another domain": {"email": "ada@elsewhere.test"},
    "below the domain": {"email": "ada@mail.example.test"},
    "malformed": {"email": "ada king@example.test"},
    "with an invisible letter": {"email": "ad\u200ba@example.test"},
    "none": {"email": None},
}


@pytest.mark.parametrize("claims", CLAIMS.values(), ids=CLAIMS)
def test_address_that_is_not_trusted_changes_nothing(app: AppServer, claims: dict[str, Any]) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    signs_in(app, token, email=ADA)
    assert addresses(signs_in(app, token, **claims)) == [ADA]


@pytest.mark.parametrize("listed", [{"block": [NEW]}, {"allow": [ADA]}], ids=str)
def test_address_that_the_tenant_refuses_changes_nothing(app: AppServer, listed: dict[str, list[str]]) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    app.tenant.change_settings(email_access=listed)
    signs_in(app, token, email=ADA)
    assert addresses(signs_in(app, token, email=NEW)) == [ADA]


@pytest.mark.both_databases
@pytest.mark.parametrize("is_verified", [True, False])
def test_address_of_another_account_is_never_taken(app: AppServer, *, is_verified: bool) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    first = signs_in(app, token, email=ADA)
    other = account(app, NEW, EmailVerified=is_verified)
    again = signs_in(app, token, email=NEW)
    assert (again["Uid"], addresses(again)) == (first["Uid"], [ADA])
    assert addresses(signs_in(app, token, sub="eve", email=ADA)) != [NEW]
    assert other != first["Uid"]


def test_sign_in_that_waits_for_a_factor_changes_nothing(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    signs_in(app, token, email=ADA)
    app.tenant.change_settings(two_factor="required")
    answer = app.ask("jwt", providername="Partner", id_token=token(email=NEW, email_verified=True)).get_json()
    assert answer["SecondFactorAuthentication"]
    app.tenant.change_settings(two_factor="disabled")
    assert addresses(signs_in(app, token, email=None)) == [ADA]


def test_other_tenants_provider_decides_nothing(
    app: AppServer, new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    other = an_app(new_tenant_server, fake_provider)
    jwt_sender(other.tenant, Domain=DOMAIN, UpdateEmailProfile=True)
    token = jwt_sender(app.tenant, Domain=DOMAIN)
    signs_in(app, token, email=ADA)
    assert addresses(signs_in(app, token, email=NEW)) == [ADA]


# RaasUpdateFields


@pytest.mark.both_databases
@pytest.mark.parametrize("fields", [["FirstName", "Company"], []], ids=str)
def test_listed_fields_follow_the_jwt(app: AppServer, fields: list[str]) -> None:
    token = jwt_sender(app.tenant, RaasUpdateFields=fields, Mapping={"org": "Company", "family_name": "LastName"})
    first = signs_in(app, token, given_name="Ada", family_name="Byron", org="Engines")
    assert (first["FirstName"], first["LastName"]) == ("Ada", "Byron")
    later = signs_in(app, token, given_name="Augusta", family_name="King", org="Analytics")
    assert (later["Uid"], later["LastName"]) == (first["Uid"], "Byron"), "not listed"
    again = signs_in(app, token)
    expected = ("Augusta", "Analytics") if fields else ("Ada", None)
    assert (again["FirstName"], again["Company"]) == expected, "a claim that is missing clears nothing"


def test_value_that_the_profile_refuses_changes_nothing(app: AppServer) -> None:
    fields = ["Gender", "BirthDate", "ImageUrl", "FirstName"]
    token = jwt_sender(app.tenant, RaasUpdateFields=fields, Mapping={"g": "Gender", "b": "BirthDate", "p": "ImageUrl"})
    app.tenant.change_settings(minimum_age=18)
    wrong = {"g": "a line", "b": "31-31-31", "p": "javascript:alert(1)"}
    profile = signs_in(app, token, given_name="Augusta", **wrong)
    assert (profile["FirstName"], profile["Gender"] in (None, "", "U"), profile["ImageUrl"]) == ("Augusta", True, None)
    young = app.tenant.services.clock.now().strftime("%m-%d-%Y")
    assert signs_in(app, token, b=young)["BirthDate"] is None
    assert signs_in(app, token, b="12-10-1815")["BirthDate"] == "12-10-1815"


@pytest.mark.parametrize("field", ["Email", "ID", "FullName", "Roles", "Uid", "x"])
def test_field_that_no_jwt_updates_is_refused(app: AppServer, field: str) -> None:
    body = {"AppName": "Partner", "Algo": "HS256", "Key": "k" * 32, "RaasUpdateFields": ["FirstName", field]}
    answer = ask(app.tenant, machine(app.tenant, "all"), "POST", "/v2/manage/custom-providers/jwt", body)
    assert refused(answer)[0] in (400, 422)
    assert "RaasUpdateFields" in answer.get_json()["Description"]
