"""Sign-ins through a provider, on our pages and by a provider's app, and their handoff to programs."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from app.identity.directory.identity_provider import ProviderIdentity
from tests.support.accounts.social_accounts import guid, linked_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import jwt_sender, prepare
from tests.support.services import slapd
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import (
    BLOCKED_PAGE,
    Credential,
    SignedIn,
    of_page,
    of_program,
)
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage, Visitor

NAME, SUBJECT = "globex", "4711"
START, CALLBACK = f"/sign-in/with?provider={NAME}", "https://shop.example/back"


def provider_of(who: SigningAccount, **connection: Any) -> FakeProvider:
    """Return the provider, to which the tenant has a connection."""
    assert who.provider is not None
    who.provider.known_to(who.tenant, NAME, **connection)
    return who.provider


def linked(who: SigningAccount, subject: str = SUBJECT, name: str = NAME) -> None:
    linked_to(who.tenant, who.uid, ProviderIdentity(name, subject, "countess@globex.example", email_verified=True))


def returned(provider: FakeProvider, visitor: Visitor, address: str, **claims: Any) -> VisitedPage:
    """Sign in at the provider where this address leads, and come back."""
    return visitor.open(provider.callback_url(address, **{"sub": SUBJECT, "email": None, **claims}))


def by_identity(who: SigningAccount) -> Steps:
    provider, visitor = provider_of(who), who.browser()
    linked(who)
    yield
    led = visitor.open(START)
    yield
    return of_page(returned(provider, visitor, led.address))


def by_token_of_app(who: SigningAccount) -> Steps:
    assert who.provider is not None
    app = prepare(who.tenant, who.provider)
    linked(who, "ada-1815", "google")
    yield
    return of_program(app.ask("google", google_access_token=app.upstream.access_token()))


def by_jwt_of_browser(who: SigningAccount) -> Steps:
    token, visitor = jwt_sender(who.tenant), who.browser()
    linked(who, "ada-1815", "jwt:partner")
    yield
    return of_page(visitor.open(f"/access/jwt?{urlencode({'jwttoken': token()})}"))


def by_jwt_of_app(who: SigningAccount) -> Steps:
    token = jwt_sender(who.tenant)
    linked(who, "ada-1815", "jwt:partner")
    yield
    named: dict[str, Any] = {"providername": "Partner", "refresh_token": "any", "id_token": token()}
    return of_program(who.tenant.send("GET", "/api/v2/access_token/jwt", **named))


def in_directory(who: SigningAccount) -> str:
    """Link the account to a person of a directory that signs the tenant's people in; return what the person types."""
    server = slapd.shared()
    provider = slapd.provider_of(server)
    answered(ask(who.tenant, machine(who.tenant, "all"), "POST", "/v2/manage/custom-providers/ldap", provider))
    linked(who, server.subject_of("ada"), "ldap:corp")
    return "ada@corp.test"


def by_directory(who: SigningAccount) -> Steps:
    email = in_directory(who)
    yield
    body = {"email": email, "password": slapd.PASSWORD}
    return of_program(who.tenant.send("POST", "/identity/v2/auth/login", body, with_secret=False))


def by_directory_on_page(who: SigningAccount) -> Steps:
    email, visitor = in_directory(who), who.browser()
    yield
    return of_page(visitor.open("/login").sign_in(email, slapd.PASSWORD))


def link(**parameters: str) -> str:
    """Return a program's link to the provider."""
    return f"/RequestHandler.aspx?{urlencode({'provider': NAME, 'callbacktype': 'QueryString', **parameters})}"


def by_request_token(who: SigningAccount) -> Steps:
    provider, visitor = provider_of(who), who.browser()
    linked(who)
    yield
    led = visitor.open(link(callback=CALLBACK))
    yield
    back = of_page(returned(provider, visitor, led.address))
    if not isinstance(back, SignedIn):
        return back
    yield
    return of_program(who.tenant.send("GET", "/api/v2/access_token", token=back.text))


def by_access_token_at_callback(who: SigningAccount) -> Steps:
    provider, visitor = provider_of(who), who.browser()
    linked(who)
    yield
    led = visitor.open(link(callback=CALLBACK, is_access_token="true"))
    yield
    return of_page(returned(provider, visitor, led.address))


def by_client_guid(who: SigningAccount) -> Steps:
    provider, visitor, stored = provider_of(who), who.browser(), guid()
    linked(who)
    yield
    led = visitor.open(link(callbackguid=stored))
    yield
    page = returned(provider, visitor, led.address)
    yield
    page.press("Approve")
    yield
    return of_program(who.call("U13", clientguid=stored))


_API = "public_api/sign_in/passwords"
_FORM = "pages_api/sign_in/password:with_password"
_PAGE, _HANDOFF = "pages_api/sign_in/federated_completion:sign_in", "pages_api/interactions/interaction_handoff"
PATHS = (
    SignInPath("provider, page", by_identity, (_PAGE,), Credential.SESSION, BLOCKED_PAGE),
    SignInPath(
        "password of a directory",
        by_directory,
        ("authentication/passwordless/password_login:_sign_in", f"{_API}:_verify_password", f"{_API}:with_password"),
    ),
    SignInPath("password of a directory, page", by_directory_on_page, (_PAGE, _FORM), Credential.SESSION, BLOCKED_PAGE),
    SignInPath("token of a provider's app", by_token_of_app, ("public_api/native_sign_in/account:_sign_in",)),
    SignInPath("JWT of a browser", by_jwt_of_browser, (_PAGE,), Credential.SESSION, BLOCKED_PAGE),
    SignInPath("JWT of an app", by_jwt_of_app, ("public_api/native_sign_in/account:_sign_in",)),
    SignInPath(
        "provider, handoff by request token",
        by_request_token,
        (_PAGE, f"{_HANDOFF}:with_session", "public_api/tokens:exchange_request_token"),
        blocked=BLOCKED_PAGE,
        meanwhile=(BLOCKED_PAGE, "903"),
        signed_in_at=2,
        asks_lock=True,
    ),
    SignInPath(
        "provider, handoff by access token",
        by_access_token_at_callback,
        (_PAGE, f"{_HANDOFF}:with_session"),
        blocked=BLOCKED_PAGE,
        settings={"token_in_return_url": True, "url_whitelist": (CALLBACK,)},
    ),
    SignInPath(
        "provider, handoff by client GUID",
        by_client_guid,
        (_PAGE, f"{_HANDOFF}:with_session", f"{_HANDOFF}:decide_handoff", "public_api/self_service/identities:sign_in"),
        blocked=BLOCKED_PAGE,
        meanwhile=(BLOCKED_PAGE, "1140", "1140"),
        settings={"no_callback_login": True},
    ),
)
