"""Each key of a JWT client in a configuration file changes its JWT, or how a browser brings it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from joserfc import jws, jwt
from joserfc.errors import BadSignatureError
from joserfc.jwk import OctKey
from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.contract.jwt.jwt_operations import CLIENTS
from app.kit.resources.resource_models import file_model
from tests.support.oauth.world import World
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA, BACK = "ada@example.test", "https://shop.example/back"
SECRET = "a key of at least sixty-four bytes, as many as the digest of SHA-512 has, and more"
OTHER_SECRET = f"another: {SECRET}"


@dataclass
class AppliedClient:
    """A tenant with the JWT client that a configuration file states, an account, and a browser."""

    tenant: TenantServer
    browser: Visitor

    def apply(self, members: dict[str, Any]) -> None:
        applied(self.tenant.services, json.dumps({"tenants": [{"name": self.tenant.name, "jwt_clients": [members]}]}))
        self.tenant.services.directory.clear_cache()
        named = {"Email": [{"Type": "Primary", "Value": ADA}], "FirstName": "Ada", "EmailVerified": True}
        self.tenant.create(**named)

    def logs_in(self) -> TestResponse:
        base = f"http://{self.tenant.name}.{self.tenant.services.settings.hub_domain}"
        client = PlainClient(self.tenant.app, use_cookies=False)
        query, body = {"apikey": self.tenant.api_key}, {"email": ADA, "password": PASSWORD}
        return client.post("/api/jwt/Shop/login", query_string=query, json=body, base_url=base)

    def status(self) -> int:
        answer = self.logs_in()
        return 200 if answer.status_code == 200 else refused(answer)[1]

    def signed(self) -> str:
        return str(answered(self.logs_in())["signature"])

    def claims(self) -> dict[str, Any]:
        return dict(jwt.decode(self.signed(), OctKey.import_key(SECRET)).claims)

    def algorithm(self) -> str:
        return str(jws.extract_compact(self.signed().encode()).headers()["alg"])

    def is_signed_by(self, secret: str) -> bool:
        try:
            jwt.decode(self.signed(), OctKey.import_key(secret))
        except BadSignatureError:
            return False
        return True

    def returned(self) -> VisitedPage:
        query = urlencode({"client_id": self.tenant.api_key, "redirect_uri": BACK, "nonce": "n-1"})
        page = self.browser.open(f"/service/jwt/Shop/authorize?{query}")
        return page.press("Sign in", identifier=ADA, password=PASSWORD)


def _claim(name: str) -> Callable[[AppliedClient], Any]:
    return lambda at: at.claims().get(name)


def _lifetime(at: AppliedClient) -> int:
    claims = at.claims()
    return int(claims["exp"] - claims["iat"])


def _earlier(at: AppliedClient) -> int:
    claims = at.claims()
    return int(claims["iat"] - claims["nbf"])


def _is_signed(at: AppliedClient) -> tuple[bool, bool]:
    return at.is_signed_by(SECRET), at.is_signed_by(OTHER_SECRET)


CASES: dict[str, tuple[Any, Callable[[AppliedClient], Any], Any, Any]] = {
    "app_name": ("Other", AppliedClient.status, 200, 1180),
    "algo": ("HS512", AppliedClient.algorithm, "HS256", "HS512"),
    "audience": (["shop"], _claim("aud"), None, "shop"),
    "mapping": ({"first": "FirstName"}, _claim("first"), None, "Ada"),
    "metadata": ({"plan": "gold"}, _claim("plan"), None, "gold"),
    "not_before_difference": (30, _earlier, 0, 30),
    "not_after_difference": (60, _lifetime, 600, 60),
    "query_string_parameter": ("ticket", lambda at: [*at.returned().query], ["id_token"], ["ticket"]),
    "response_mode": ("fragment", lambda at: at.returned().address.partition("#")[2][:9], "", "id_token="),
    "secret": (OTHER_SECRET, _is_signed, (True, False), (False, True)),
}  # fmt: skip
"""By key, another value, what it changes, and what is seen without it and with it."""
STORED_ONLY = {"login_url"}
"""The interface has it, and nothing here leads to it: the hosted pages sign people in."""


@on_one_database
@pytest.mark.parametrize("name", CASES)
def test_key_of_a_jwt_client_acts(
    new_tenant_server: NewTenantServer, identity_app: Flask, new_visitor_at: NewVisitorAt, name: str
) -> None:
    value, seen, before, after = CASES[name]
    was_seen = []
    members = {"app_name": "Shop", "algo": "HS256", "secret": SECRET}
    for applied_members in (members, {**members, name: value}):
        tenant = new_tenant_server(url_whitelist=[BACK])
        world = World(tenant.services, WsgiClient(identity_app), tenant.tenant_id, tenant.name, tenant.api_key)
        at = AppliedClient(tenant, new_visitor_at(world))
        at.apply(applied_members)
        was_seen.append(seen(at))
    assert was_seen == [before, after]
    assert before != after


def test_every_key_of_a_jwt_client_has_a_test() -> None:
    assert CASES.keys() | STORED_ONLY == file_model(CLIENTS).model_fields.keys()
