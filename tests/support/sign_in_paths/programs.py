"""Tokens of the API that come from other tokens, a JWT or an address at a storefront, and sign-ins that a phone's app approves."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support.fakes.native_apps import JWT_SECRET
from tests.support.fakes.storefronts import BIGCOMMERCE, SHOPIFY, storefront
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import Credential, of_program
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, answered
from tests.support.visitors.plain_client import PlainClient

AUTH, TOKENS = "/identity/v2/auth", "/identity/v2/manage/account/access_token"


def own_token(who: SigningAccount) -> str:
    """Return an access token of the account's own sign-in."""
    return str(answered(who.logs_in())["access_token"])


def by_server(who: SigningAccount) -> Steps:
    yield
    return of_program(who.tenant.send("GET", f"{MANAGE}/access_token", uid=who.uid))


def by_refresh_token(who: SigningAccount) -> Steps:
    refresh_token = answered(who.logs_in())["refresh_token"]
    yield
    return of_program(who.tenant.send("GET", f"{TOKENS}/refresh", refresh_token=refresh_token))


def by_longer_life(who: SigningAccount) -> Steps:
    token = own_token(who)
    yield
    return of_program(who.tenant.send("GET", f"{AUTH}/access_token/sliding_token", bearer=token))


def by_longer_life_from_server(who: SigningAccount) -> Steps:
    token = own_token(who)
    yield
    return of_program(who.tenant.send("GET", "/api/v2/access_token/refresh", access_token=token, expiresin=600))


def with_jwt_app(who: SigningAccount) -> None:
    body = {"AppName": "Shop", "Algo": "HS256", "Secret": JWT_SECRET}
    answered(ask(who.tenant, machine(who.tenant, "client:create"), "POST", "/v2/manage/jwt-clients", body))


def at_hub(who: SigningAccount, method: str, path: str, body: Any = None, **query: str) -> TestResponse:
    base = f"http://{who.tenant.name}.{who.tenant.services.settings.hub_domain}"
    sent = {"json": body} if body is not None else {}
    parameters = {"apikey": who.tenant.api_key, **query}
    client = PlainClient(who.tenant.app, use_cookies=False)
    return client.open(path, method=method, query_string=parameters, base_url=base, **sent)


def to_jwt_by_password(who: SigningAccount) -> Steps:
    with_jwt_app(who)
    yield
    body = {"email": who.email, "password": who.person.password}
    return of_program(at_hub(who, "POST", "/api/jwt/Shop/login", body))


def to_jwt_by_token(who: SigningAccount) -> Steps:
    with_jwt_app(who)
    token = own_token(who)
    yield
    return of_program(at_hub(who, "GET", "/api/jwt/Shop/token", access_token=token))


def with_store(who: SigningAccount, plugin: str, store: dict[str, Any]) -> None:
    token = machine(who.tenant, "client:update")
    answered(ask(who.tenant, token, "PUT", f"/v2/manage/hosted-plugins/{plugin}", {"Data": [store]}))


def to_shopify(who: SigningAccount) -> Steps:
    with_store(who, "shopify", SHOPIFY)
    token = own_token(who)
    yield
    return of_program(who.tenant.send("GET", "/sso/shopify/api/token", bearer=token, store="shop"))


def to_bigcommerce(who: SigningAccount) -> Steps:
    with storefront(who.tenant.services):
        with_store(who, "bigcommerce", BIGCOMMERCE)
        token = own_token(who)
        yield
        return of_program(who.tenant.send("GET", "/sso/bigcommerce/api/token", bearer=token, store="shop"))


def by_app_of_phone(who: SigningAccount) -> Steps:
    token = own_token(who)
    yield
    shown = answered(who.tenant.send("GET", "/sso/mobile/generate", with_secret=False))
    yield
    answered(who.tenant.send("POST", "/sso/mobile/token", {"access_token": token, **shown}, with_secret=False))
    yield
    return of_program(who.tenant.send("GET", "/sso/mobile/token", with_secret=False, code=shown["code"]))


_TOKENS, _JWT = "public_api/tokens", "protocols/jwt_sign_on/account_jwts"
_STORES = "public_api/storefronts/storefront_sign_on"
PATHS = (
    SignInPath("impersonation by a server", by_server, (f"{_TOKENS}:impersonate",), logins=0),
    SignInPath("refresh token of the API", by_refresh_token, (f"{_TOKENS}:refresh",), blocked="1217", logins=0),
    SignInPath("longer life of a token", by_longer_life, (f"{_TOKENS}:slide",), blocked="1409", logins=0),
    SignInPath(
        "longer life of a token, server",
        by_longer_life_from_server,
        (f"{_TOKENS}:refresh_shown",),
        blocked="905",
        logins=0,
    ),
    SignInPath("JWT by password", to_jwt_by_password, (f"{_JWT}:_by_password", f"{_JWT}:_signed"), Credential.JWT),
    SignInPath(
        "JWT by access token", to_jwt_by_token, (f"{_JWT}:_signed",), Credential.JWT, "1409", logins=0, asks_lock=True
    ),
    SignInPath(
        "Shopify", to_shopify, (f"{_STORES}:shopify_login",), Credential.ADDRESS, "1409", logins=0, asks_lock=True
    ),
    SignInPath(
        "BigCommerce",
        to_bigcommerce,
        (f"{_STORES}:bigcommerce_login",),
        Credential.ADDRESS,
        "1409",
        logins=0,
        asks_lock=True,
    ),
    SignInPath(
        "QR code approved by a phone's app",
        by_app_of_phone,
        ("public_api/passwordless/cross_device:poll",),
        blocked="908",
        settings={"qr_sign_on": True},
    ),
)
