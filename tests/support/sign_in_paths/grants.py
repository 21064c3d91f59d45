"""Tokens of applications: grants of the token endpoint, and what the authorization endpoint gives in a signed-in browser."""

from __future__ import annotations

from typing import Any

from app.contract.applications.file import DEVICE_GRANT, EXCHANGE_TOKEN, TOKEN_EXCHANGE
from app.identity.protocols.oauth.tokens.subject_tokens import ID_TOKEN
from tests.support.oauth.assertion_issuers import Hr, bears, trusting
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.token_exchange import exchanged
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import (
    Credential,
    Refused,
    SignedIn,
    of_page,
    of_token_endpoint,
)
from tests.support.tenants.tenant_server import answered

CODE = ["authorization_code", "refresh_token"]


def tokens_of(who: SigningAccount, client: RelyingParty, **parameters: str | None) -> dict[str, Any]:
    """Return the tokens that the application got when the account signed in for it."""
    page = who.types_password(who.browser().authorize(client, **parameters))
    return answered(client.redeem(page.query["code"]))


def by_single_sign_on(who: SigningAccount) -> Steps:
    visitor, other = who.signed_in_browser(), who.application()
    yield
    return of_page(visitor.authorize(other))


def by_silent_sign_on(who: SigningAccount) -> Steps:
    visitor, other = who.signed_in_browser(), who.application()
    yield
    return of_page(visitor.authorize(other, prompt="none"))


def by_chosen_account(who: SigningAccount) -> Steps:
    """Choose the account in a browser that is signed in to another one, too."""
    visitor, shop = who.signed_in_browser(), who.application()
    other = who.world.person("grace@example.test")
    login = visitor.authorize(shop, prompt="select_account").press("Use another account")
    login.sign_in(other.email, other.password)
    yield
    page = visitor.authorize(shop, prompt="select_account")
    if who.email not in page.text:
        return Refused("not offered")
    yield
    return of_page(page.press(who.email))


def by_authorization_code(who: SigningAccount) -> Steps:
    visitor, other = who.signed_in_browser(), who.application()
    yield
    back = of_page(visitor.authorize(other))
    if not isinstance(back, SignedIn):
        return back
    yield
    return of_token_endpoint(other.redeem(back.text))


def by_front_channel(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    other = who.application(grant_types=["authorization_code", "implicit"], response_types=["code", "token id_token"])
    yield
    return of_page(visitor.authorize(other, response_type="token id_token", nonce="a nonce"))


def by_refresh_token(who: SigningAccount) -> Steps:
    client = who.application(grant_types=CODE)
    token = tokens_of(who, client, scope="openid offline_access")["refresh_token"]
    yield
    return of_token_endpoint(client.refresh(token))


def by_device_code(who: SigningAccount) -> Steps:
    visitor, tv = who.signed_in_browser(), who.application(secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[])
    yield
    started = answered(tv.start_device(scope="openid email"))
    page = visitor.open("/device").press("Continue", user_code=started["user_code"])
    yield
    page.press("Connect device")
    yield
    return of_token_endpoint(tv.poll(started["device_code"]))


def by_token_exchange(who: SigningAccount) -> Steps:
    client = who.application(client_id="front", access_token_format="jwt", may_act=["orders"])
    token = tokens_of(who, client)["access_token"]
    yield
    return of_token_endpoint(exchanged(_service(who), token))


def by_token_exchange_for_id_token(who: SigningAccount) -> Steps:
    client = who.application(client_id="front", access_token_format="jwt", may_act=["orders"])
    token = tokens_of(who, client)["access_token"]
    yield
    return of_token_endpoint(exchanged(_service(who), token, requested_token_type=ID_TOKEN, scope="openid"))


def _service(who: SigningAccount) -> RelyingParty:
    """Return the service that acts for people of the application."""
    return who.world.application(
        "orders", client_id="orders", redirect_uris=[], scope="openid profile email", grant_types=[TOKEN_EXCHANGE]
    )


def by_assertion(who: SigningAccount) -> Steps:
    client = trusting(who.world)
    yield
    return of_token_endpoint(bears(client, Hr(client).assertion(sub=who.uid)))


def by_exchanged_token(who: SigningAccount) -> Steps:
    """Exchange a token of the API's own sign-in for tokens of an application."""
    client = who.application(grant_types=[EXCHANGE_TOKEN])
    token = answered(who.logs_in())["access_token"]
    yield
    form = {"grant_type": EXCHANGE_TOKEN, "token": token, **client.client_credentials()}
    return of_token_endpoint(client.back("token", form))


_GRANTS, _SENT = "protocols/oauth/grants", "protocols/oauth/authorize/responses/sent_parameters:issue"
PATHS = (
    SignInPath("single sign-on of an application", by_single_sign_on, (_SENT,), Credential.CODE, "Sign in", logins=0),
    SignInPath("silent single sign-on", by_silent_sign_on, (_SENT,), Credential.CODE, "login_required", logins=0),
    SignInPath(
        "chosen account", by_chosen_account, (_SENT,), Credential.CODE, "not offered", ("Choose an account",), logins=0
    ),
    SignInPath(
        "authorization code",
        by_authorization_code,
        (_SENT, f"{_GRANTS}/authorization_code:exchange"),
        blocked="Sign in",
        meanwhile=("invalid_grant",),
        logins=0,
    ),
    SignInPath(
        "implicit flow",
        by_front_channel,
        (_SENT, "protocols/oauth/authorize/responses/front_channel_tokens:parameters"),
        blocked="Sign in",
        logins=0,
    ),
    SignInPath(
        "refresh token of an application",
        by_refresh_token,
        (f"{_GRANTS}/refresh_token:exchange",),
        blocked="invalid_grant",
        logins=0,
    ),
    SignInPath(
        "device code",
        by_device_code,
        (f"{_GRANTS}/device_code:exchange",),
        blocked="Sign in",
        meanwhile=("authorization_pending", "invalid_grant"),
        logins=0,
    ),
    SignInPath(
        "token exchange",
        by_token_exchange,
        (f"{_GRANTS}/token_exchange:exchange",),
        blocked="invalid_request",
        logins=0,
    ),
    SignInPath(
        "token exchange for an id_token",
        by_token_exchange_for_id_token,
        (f"{_GRANTS}/token_exchange:exchange", f"{_GRANTS}/token_exchange:_id_token"),
        blocked="invalid_request",
        logins=0,
    ),
    SignInPath(
        "assertion of a trusted issuer",
        by_assertion,
        (f"{_GRANTS}/jwt_bearer:exchange", f"{_GRANTS}/jwt_bearer:_sign_in"),
        blocked="invalid_grant",
    ),
    SignInPath(
        "exchanged token of the API",
        by_exchanged_token,
        (f"{_GRANTS}/legacy_exchange:exchange", f"{_GRANTS}/legacy_exchange:_session"),
        blocked="invalid_grant",
        logins=0,
    ),
)
