"""A new account of a provider has every required field of the form: the provider fills it with a valid value, or the person does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client as WsgiClient

from app.contract.federation.connections import MEMBERS
from app.contract.profile import FIELDS, Kind
from app.contract.registration.form import FormField
from app.identity.directory.accounts import accounts
from tests.support.fakes.identity_provider import ADA, FakeProvider
from tests.support.fakes.native_apps import jwt_sender
from tests.support.journeys.federated_sign_in import FederatedPageUser
from tests.support.oauth.world import NewWorld, World
from tests.support.refused_answers.providers import ALL, CUSTOM
from tests.support.refused_answers.visits import ORGANIZATION, NewVisit
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

EMAIL = {"name": "email", "required": True}
PASSWORD = {"name": "password", "type": "password", "required": True}
VALUES = {
    "FirstName": "Augusta", "LastName": "King", "MiddleName": "Ada", "NickName": "Countess", "Prefix": "Lady", "Suffix": "II",
    "Company": "Engines", "Website": "https://ada.example/", "Gender": "female", "BirthDate": "12-10-1815", "LocalLanguage": "en-GB",
    "ImageUrl": "https://pictures.example/a.png", "ProfileUrl": "https://p.example/ada",
}  # fmt: skip
"""By member of the profile that a provider can fill, a value."""
WRONG = {
    "Gender": "a line", "BirthDate": "31-31-31", "ImageUrl": "javascript:alert(1)", "FirstName": "\x00", "NickName": " ",
}  # fmt: skip


def form_name(member: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", member).lower()


def required(*members: str) -> tuple[dict[str, object], ...]:
    return (EMAIL, *({"name": form_name(member), "required": True} for member in members), PASSWORD)


def stored(world: World, email: str = ADA["email"]) -> dict[str, Any] | None:
    """Return the profile of the account with this address."""
    with call_of(world.services, world.name) as call:
        account = accounts.by_email(call, email)
        return dict(account.profile) if account is not None else None


def asks(page: VisitedPage) -> bool:
    return page.heading == "Create your account"


NewUser = Callable[..., FederatedPageUser]


@pytest.fixture
def new_user(new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> NewUser:
    def make(**settings: Any) -> FederatedPageUser:
        names = {key: f"given.{key}" for key in MEMBERS if key != "full_name"}
        connection = fake_provider.openid(title="Globex", trusts_email=True, claims=names)
        tenant = new_world(connections={"globex": connection}, **settings)
        return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)

    return make


def given(member: str, value: str) -> dict[str, Any]:
    """Return the claims of a provider that fills a member."""
    return {"given": {key: value for key, name in MEMBERS.items() if name == member}}


def test_values_name_every_field_that_a_provider_fills() -> None:
    assert VALUES.keys() == set(MEMBERS.values()) - {"FullName"}


@on_one_database
@pytest.mark.parametrize("member", VALUES)
def test_field_of_the_form_that_the_provider_fills_is_stored(new_user: NewUser, member: str) -> None:
    user = new_user(registration_form=required(member))
    page = user.sign_in(**given(member, VALUES[member]))
    assert page.heading == "Profile"
    profile = stored(user.tenant)
    assert profile is not None
    assert profile[member] == VALUES[member]


@on_one_database
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("AG\x00\x1b[2J", None),
        ("x" * 5_000, "x" * 500),
        (["a list"], None),
        ({"an": "object"}, None),
        (True, None),
    ],
    ids=["markup", "control characters", "long", "list", "object", "flag"],
)
def test_hostile_value_is_harmless(new_user: NewUser, value: Any, expected: str | None) -> None:
    user = new_user(registration_form=required("Company"))
    page = user.sign_in(given={"company": value})
    profile = stored(user.tenant)
    assert (profile or {}).get("Company") == expected
    assert asks(page) is (expected is None)
    assert "<script>alert" not in user.visitor.open("/profile").html


@on_one_database
def test_field_beside_the_form_is_not_stored(new_user: NewUser) -> None:
    user = new_user(registration_form=required("LastName"))
    user.sign_in(given={"last_name": "King", "company": "Engines"})
    profile = stored(user.tenant)
    assert profile is not None
    assert (profile["LastName"], "Company" in profile) == ("King", False)


@on_one_database
@pytest.mark.parametrize("member", WRONG)
def test_value_that_the_form_refuses_is_asked(new_user: NewUser, member: str) -> None:
    user = new_user(registration_form=required(member))
    page = user.sign_in(**given(member, WRONG[member]))
    assert (asks(page), stored(user.tenant)) == (True, None)


@on_one_database
def test_value_that_breaks_a_rule_of_the_tenant_is_asked(new_user: NewUser) -> None:
    rule = {"name": "company", "required": True, "min_length": 3}
    user = new_user(registration_form=(EMAIL, rule, PASSWORD))
    page = user.sign_in(**given("Company", "AG"))
    assert (asks(page), stored(user.tenant)) == (True, None)
    assert user.sign_in(**given("Company", "AG & Co")).heading == "Profile"


@on_one_database
def test_every_other_field_of_the_profile_is_asked(new_user: NewUser) -> None:
    """In one form: each field alone keeps the person on it, and the answers are those of the account."""
    members = [
        name for name, field in FIELDS.items() if field.kind is Kind.TEXT and is_free(name) and name not in VALUES
    ]
    assert len(members) > 25
    user = new_user(registration_form=required(*members))
    page = user.sign_in()
    typed = {form_name(name): "https://a.example/" if name.endswith("Url") else "yes" for name in members}
    for name in members[::6]:
        page = page.press("Create account", **{**typed, form_name(name): ""})
        assert (asks(page), stored(user.tenant)) == (True, None), name
    page.press("Create account", **typed)
    profile = stored(user.tenant)
    assert profile is not None
    assert [name for name in members if not profile.get(name)] == []


def is_free(name: str) -> bool:
    try:
        return FormField(name=form_name(name)).member == name
    except ValueError:
        return False


KINDS = (*ALL, *CUSTOM, ORGANIZATION)


@on_one_database
@pytest.mark.parametrize("member", ["NickName", "ImageUrl", "Company", "LocalLanguage", "Gender"])
@pytest.mark.parametrize("kind", KINDS)
def test_account_of_any_provider_has_the_field_or_none_is_made(
    new_world: NewWorld,
    new_visitor_at: NewVisitorAt,
    identity_app: Flask,
    fake_provider: FakeProvider,
    kind: str,
    member: str,
) -> None:
    visit = NewVisit(new_world, new_visitor_at, identity_app, fake_provider)(
        kind, registration_form=(EMAIL, *required(member)[1:])
    )
    page = visit.back()
    profile = stored(visit.world)
    assert asks(page) is (profile is None), page.text
    assert profile is None or profile[member]


@on_one_database
def test_jwt_of_a_browser_fills_the_form_or_it_is_asked(
    new_tenant_server: NewTenantServer, identity_app: Flask, new_visitor_at: NewVisitorAt
) -> None:
    server = new_tenant_server(registration_form=required("Company"))
    world = World(server.services, WsgiClient(identity_app), server.tenant_id, server.name, server.api_key)
    token = jwt_sender(server, Domain="example.test", Mapping={"org": "Company"})
    for claims, is_asked in (({}, True), ({"org": "Engines"}, False)):
        visitor = new_visitor_at(world)
        page = visitor.open(f"/access/jwt?jwttoken={token(email=ADA['email'], email_verified=True, **claims)}")
        assert asks(page) is is_asked, page.text
    assert (stored(world) or {})["Company"] == "Engines"


@on_one_database
@pytest.mark.parametrize("asks_fields", [True, False])
def test_known_account_is_asked_at_a_providers_sign_in(new_user: NewUser, *, asks_fields: bool) -> None:
    user = new_user(registration_form=(EMAIL, PASSWORD), ask_required_fields=asks_fields)
    assert user.sign_in().heading == "Profile"
    user.tenant.change_settings(registration_form=required("Company"))
    user.visitor.forget("session")
    page = user.sign_in(**given("Company", "Engines"))
    assert page.heading == ("One more detail" if asks_fields else "Profile")
    if asks_fields:
        assert page.press("Continue", company="Engines").heading == "Profile"
        assert (stored(user.tenant) or {})["Company"] == "Engines"


@on_one_database
def test_sign_in_of_an_app_fills_the_form_too(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(registration_form=({"name": "company", "required": True}, {"name": "website"}))
    token = jwt_sender(server, Mapping={"org": "Company", "home": "Website"})
    sent: dict[str, Any] = {"providername": "Partner", "refresh_token": "any"}
    answer = server.send("GET", "/api/v2/access_token/jwt", id_token=token(org="Engines", home="javascript:1"), **sent)
    bearer = answered(answer)["access_token"]
    profile = answered(server.send("GET", "/identity/v2/auth/account", bearer=bearer))
    assert profile["Company"] == "Engines"


@on_one_database
def test_known_account_stays_as_it_is(new_user: NewUser) -> None:
    user = new_user(registration_form=required("Company"))
    user.sign_in(given={"company": "Engines"})
    user.visitor.forget("session")
    user.sign_in(given={"company": "Another"})
    assert (stored(user.tenant) or {})["Company"] == "Engines"
