"""Sessions and tokens of a browser that is signed in, and sign-ins that another browser approves."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.programs import own_token, with_jwt_app
from tests.support.sign_in_paths.results import (
    BLOCKED_PAGE,
    NO_CREDENTIAL,
    Credential,
    SignedIn,
    of_page,
    of_program,
    of_session,
)
from tests.support.visitors import phone_sign_in
from tests.support.visitors.visitor import Visitor

SITE = "https://shop.example"
BACK = f"{SITE}/back"


def by_qr_code(who: SigningAccount) -> Steps:
    phone, visitor = who.signed_in_browser(), who.browser()
    yield
    page = phone_sign_in.shown(visitor)
    yield
    phone_sign_in.approved(phone, page)
    yield
    return of_page(page.press("Continue"))


def site_asks(visitor: Visitor, path: str, **query: str) -> dict[str, Any]:
    """Ask as a script of the tenant's site does."""
    answer = visitor.client.get(f"/ssologin/{path}?{urlencode(query)}", base_url=visitor.home, headers={"Origin": SITE})
    return dict(answer.get_json())


def to_token_of_site(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    yield
    token = site_asks(visitor, "login")["token"]
    return SignedIn(Credential.ACCESS_TOKEN, token) if token else NO_CREDENTIAL


def by_token_of_site(who: SigningAccount) -> Steps:
    visitor, token = who.browser(), own_token(who)
    yield
    site_asks(visitor, "setToken", token=token, apikey=who.tenant.api_key)
    return of_session(visitor)


def to_jwt(who: SigningAccount) -> Steps:
    with_jwt_app(who)
    visitor = who.signed_in_browser()
    yield
    query = urlencode({"client_id": who.tenant.api_key, "redirect_uri": BACK, "nonce": "n-1"})
    return of_page(visitor.open(f"/service/jwt/Shop/authorize?{query}"))


def to_token_in_address(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = visitor.open(f"/auth?{urlencode({'action': 'login', 'return_url': BACK})}")
    return of_page(who.types_password(page))


def to_token_in_address_again(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    yield
    return of_page(visitor.open(f"/auth?{urlencode({'action': 'login', 'return_url': BACK})}"))


def to_code_in_address(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = visitor.open(f"/auth?{urlencode({'action': 'login', 'return_url': BACK})}")
    back = of_page(who.types_password(page))
    if not isinstance(back, SignedIn):
        return back
    yield
    return of_program(who.tenant.send("POST", f"{AUTH}/hosted/token", {"code": back.text}))


AUTH = "/identity/v2/auth"
_PASSWORD, _NEXT = "pages_api/sign_in/password:with_password", "pages_api/interactions/next_step:_with_token"
_WEB_SSO: dict[str, Any] = {"web_sso": True}
PATHS = (
    SignInPath(
        "QR code approved by a phone's browser",
        by_qr_code,
        ("pages_api/sign_in/cross_device:finish", "pages_api/interactions/page_sign_in:_take_over_session"),
        Credential.SESSION,
        "Sign in",
        ("Sign in", "Code expired"),
        settings={"qr_sign_on": True},
    ),
    SignInPath(
        "web SSO, token for a site",
        to_token_of_site,
        ("pages_api/oauth/web_sso:read_shared_session",),
        blocked=NO_CREDENTIAL.code,
        settings=_WEB_SSO,
        logins=0,
        asks_lock=True,
    ),
    SignInPath(
        "web SSO, session by a site's token",
        by_token_of_site,
        ("pages_api/oauth/web_sso:_start_session",),
        Credential.SESSION,
        NO_CREDENTIAL.code,
        settings=_WEB_SSO,
        logins=0,
        asks_lock=True,
    ),
    SignInPath(
        "JWT for an app, page",
        to_jwt,
        ("pages_api/interactions/jwt_redirect:redirect_with_jwt",),
        Credential.JWT,
        "Sign in",
        settings={"url_whitelist": (BACK,)},
        logins=0,
    ),
    SignInPath(
        "token in the return address",
        to_token_in_address,
        (_PASSWORD, _NEXT),
        blocked=BLOCKED_PAGE,
        settings={"token_in_return_url": True, "url_whitelist": (BACK,)},
    ),
    SignInPath(
        "token in the return address, signed-in browser",
        to_token_in_address_again,
        (_NEXT,),
        blocked="Sign in",
        settings={"token_in_return_url": True, "url_whitelist": (BACK,)},
        logins=0,
    ),
    SignInPath(
        "code in the return address",
        to_code_in_address,
        (_PASSWORD, _NEXT, "pages_api/interactions/return_codes:exchange"),
        blocked=BLOCKED_PAGE,
        meanwhile=("903",),
        settings={"code_in_return_url": True, "url_whitelist": (BACK,)},
        signed_in_at=1,
    ),
)
