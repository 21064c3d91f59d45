"""Each key of a JWT provider in a configuration file acts: what a token does without it differs from what it does with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from joserfc import jws, jwt
from joserfc.jwk import OctKey
from pydantic import BaseModel
from werkzeug.test import Client as WsgiClient

from app.contract.jwt.jwt_operations import PROVIDERS
from app.kit import randomness
from app.kit.resources.resource_models import file_model
from tests.support.fakes.identity_provider import key
from tests.support.fakes.native_apps import FREE_FORM, PATH
from tests.support.oauth.world import World
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt, Visitor

ADA, NEW, DOMAIN = "ada@example.test", "ada.king@example.test", "example.test"
PAGE = "https://portal.example/in"
BUTTON = "Continue with Partner"
KEY = "a key of at least forty-eight bytes, as many as SHA-384 has"
OTHER_KEY = f"another: {KEY}"
OF_ADA = {"email": ADA, "email_verified": True}


@dataclass
class AppliedProvider:
    """A tenant with the JWT provider that a configuration file states, and a browser."""

    tenant: TenantServer
    browser: Visitor

    def apply(self, members: dict[str, Any]) -> None:
        applied(self.tenant.services, json.dumps({"tenants": [{"name": self.tenant.name, "jwt_providers": [members]}]}))
        self.tenant.services.directory.clear_cache()

    @property
    def now(self) -> int:
        return int(self.tenant.services.clock.now().timestamp())

    def token(self, **claims: Any) -> str:
        stored = {"sub": "ada-1815", "iat": self.now, "exp": self.now + 300, "jti": randomness.token(8), **claims}
        present = {name: value for name, value in stored.items() if value is not None}
        return jwt.encode({"alg": "HS256"}, present, OctKey.import_key(KEY), registry=jws.JWSRegistry())

    def sends(self, token: str) -> Any:
        sent: dict[str, Any] = {"providername": "Partner", "refresh_token": "any", "id_token": token}
        return self.tenant.send("GET", f"{PATH}/jwt", **sent)

    def app(self, **claims: Any) -> int:
        """Return 200 for a sign-in of an app, or the code of the refusal."""
        answer = self.sends(self.token(**claims))
        return 200 if answer.status_code == 200 else refused(answer)[1]

    def profile(self, **claims: Any) -> dict[str, Any]:
        token = answered(self.sends(self.token(**claims)))["access_token"]
        return answered(self.tenant.send("GET", "/identity/v2/auth/account", bearer=token))

    def has_account(self) -> str:
        return str(self.tenant.create(Email=[{"Type": "Primary", "Value": ADA}], EmailVerified=True)["Uid"])


def _claims(**claims: Any) -> Callable[[AppliedProvider], int]:
    return lambda at: at.app(**claims)


def _ends(seconds: int) -> Callable[[AppliedProvider], int]:
    """Send a token that expired so long ago."""
    return lambda at: at.app(exp=at.now - seconds)


def _signed_by_key_1(at: AppliedProvider) -> int:
    claims = {"sub": "ada-1815", "iat": at.now, "exp": at.now + 300}
    answer = at.sends(jwt.encode({"alg": "RS256", "kid": "key-1"}, claims, key(1)))
    return 200 if answer.status_code == 200 else refused(answer)[1]


def _first_name(at: AppliedProvider) -> str | None:
    name: str | None = at.profile(given="Augusta")["FirstName"]
    return name


def _name_later(at: AppliedProvider) -> str:
    at.profile(given_name="Ada")
    return str(at.profile(given_name="Augusta")["FirstName"])


def _address_later(at: AppliedProvider) -> list[str]:
    at.profile(**OF_ADA)
    return [item["Value"] for item in at.profile(**{**OF_ADA, "email": NEW})["Email"]]


def _opens_known_account(at: AppliedProvider) -> bool:
    uid = at.has_account()
    return bool(at.profile(**OF_ADA)["Uid"] == uid)


def _heading(parameter: str = "", **headers: str) -> Callable[[AppliedProvider], bool]:
    """Bring a token of a known account in a parameter or in a header; return whether the browser is signed in."""

    def open_page(at: AppliedProvider) -> bool:
        at.has_account()
        token = at.token(**OF_ADA)
        sent = {name: value.format(token) for name, value in headers.items()}
        query = f"?{parameter}={token}" if parameter else ""
        return bool(at.browser.open(f"/access/jwt{query}", **sent).heading == "Profile")

    return open_page


def _has_button(at: AppliedProvider) -> bool:
    return BUTTON in at.browser.open("/login").text


def _led_by_domain(at: AppliedProvider) -> bool:
    return bool(at.browser.open("/login").press("Continue", identifier=ADA).address == PAGE)


@dataclass(frozen=True)
class KeyCase:
    """What another value of a key changes, beside other members: `seen` returns `before`, and then `after`."""

    value: Any
    seen: Callable[[AppliedProvider], object]
    before: object
    after: object
    beside: dict[str, Any]


def case(
    value: Any, seen: Callable[[AppliedProvider], object], before: object, after: object, **beside: Any
) -> KeyCase:
    return KeyCase(value, seen, before, after, beside)


_EXACT = {"match_value": True, "is_mandatory": True}
_DOMAIN = {"domain": DOMAIN}
_LED = {"login_url": PAGE, **_DOMAIN, "enable_auto_look_up": True}
_RSA = {"algo": "RS256", "key": key(1).as_pem(private=False).decode()}
CASES = {
    "app_name": case("Other", _claims(), 200, 1223),
    "is_active": case(False, _claims(), 200, 1223),
    "algo": case("HS384", _claims(), 200, 1232),
    "key": case(OTHER_KEY, _claims(), 200, 1232),
    "jwks_url": case("https://127.0.0.1:9/keys", _signed_by_key_1, 200, 1000, **_RSA),
    "mapping": case({"given": "FirstName"}, _first_name, None, "Augusta"),
    "token_query_parameter_name": case("proof", _heading("proof"), False, True, **_DOMAIN),
    "use_authorization_header": case(True, _heading(Authorization="Bearer {}"), False, True, **_DOMAIN),
    "login_url": case(PAGE, _has_button, False, True),
    "clock_skew": case(0, _ends(30), 200, 1232),
    "expiration_time_difference": case(100, _ends(90), 1232, 200),
    "issuer.expected_value": case("https://p", _claims(iss="https://p"), 1232, 200, issuer=_EXACT),
    "issuer.match_value": case(True, _claims(iss="https://evil"), 200, 1232, issuer={"expected_value": "https://p"}),
    "issuer.is_mandatory": case(True, _claims(), 200, 1232, issuer={"expected_value": "https://p", "match_value": True}),
    "audience.expected_values": case(["app"], _claims(aud="app"), 1232, 200, audience=_EXACT),
    "audience.match_value": case(True, _claims(aud="other"), 200, 1232, audience={"expected_values": ["app"]}),
    "audience.is_mandatory": case(True, _claims(), 200, 1232, audience={"expected_values": ["app"]}),
    "subject.is_mandatory": case(True, _claims(sub=None, person="p-1"), 200, 1231, mapping={"person": "ID"}),
    "not_before.is_mandatory": case(True, _claims(), 200, 1232),
    "expiration.is_mandatory": case(False, _claims(exp=None), 1232, 200),
    "update_email_profile": case(True, _address_later, [ADA], [NEW], **_DOMAIN),
    "raas_update_fields": case(["FirstName"], _name_later, "Ada", "Augusta"),
    "domain": case(DOMAIN, _opens_known_account, False, True),
    "enable_auto_look_up": case(True, _led_by_domain, False, True, login_url=PAGE, **_DOMAIN),
    "list_in_interface": case(False, _has_button, True, False, **_LED),
}  # fmt: skip
"""By key, what it changes; a key within another one has a dot."""


def with_key(members: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    outer, _, inner = name.partition(".")
    return {**members, outer: {**members.get(outer, {}), inner: value} if inner else value}


@on_one_database
@pytest.mark.parametrize("name", CASES)
def test_key_of_a_jwt_provider_acts(
    new_tenant_server: NewTenantServer, identity_app: Flask, new_visitor_at: NewVisitorAt, name: str
) -> None:
    stated, was_seen = CASES[name], []
    members = {"app_name": "Partner", "algo": "HS256", "key": KEY, **stated.beside}
    for applied_members in (members, with_key(members, name, stated.value)):
        tenant = new_tenant_server(registration_form=FREE_FORM, identifier_first=True)
        world = World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)
        at = AppliedProvider(tenant, new_visitor_at(world))
        at.apply(applied_members)
        was_seen.append(stated.seen(at))
    assert was_seen == [stated.before, stated.after]
    assert stated.before != stated.after


def keys_of(model: type[BaseModel]) -> set[str]:
    """Return the keys of a model, those of an inner model with a dot."""
    names: set[str] = set()
    for name, info in model.model_fields.items():
        inner: Any = info.annotation
        is_model = isinstance(inner, type) and issubclass(inner, BaseModel)
        names |= {f"{name}.{inner_name}" for inner_name in keys_of(inner)} if is_model else {name}
    return names


def test_every_key_of_a_jwt_provider_has_a_test() -> None:
    assert CASES.keys() == keys_of(file_model(PROVIDERS))
