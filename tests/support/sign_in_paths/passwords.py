"""Sign-ins by password."""

from __future__ import annotations

from tests.support.organizations.invitations import inviting_business
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_PAGE, Credential, of_page, of_program, of_token_endpoint


def by_program(who: SigningAccount) -> Steps:
    yield
    return of_program(who.logs_in())


def by_program_with_factors(who: SigningAccount) -> Steps:
    yield
    return of_program(who.signs_in())


def by_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = visitor.open("/login")
    return of_page(who.types_password(page))


def by_page_for_application(who: SigningAccount) -> Steps:
    visitor, shop = who.browser(), who.application()
    yield
    page = visitor.authorize(shop)
    return of_page(who.types_password(page))


def by_invitation(who: SigningAccount) -> Steps:
    """Sign in from the page of an invitation to an organization, which the account joins then."""
    business, visitor = inviting_business(who.tenant), who.browser()
    business.invite(who.email)
    yield
    page = visitor.open(f"/i/{business.token(who.email)}").press("Sign in to join")
    return of_page(page.sign_in(who.email, who.person.password))


def by_grant(who: SigningAccount) -> Steps:
    client = who.application(grant_types=["password"])
    form = {"grant_type": "password", "username": who.email, "password": who.person.password}
    yield
    return of_token_endpoint(client.back("token", {**form, **client.client_credentials()}))


_PAGE = "pages_api/sign_in/password:with_password"
_PROGRAM = "public_api/sign_in/passwords"
PATHS = (
    SignInPath("password, program", by_program, (f"{_PROGRAM}:_verify_password", f"{_PROGRAM}:with_password")),
    SignInPath(
        "password, program with factors",
        by_program_with_factors,
        (f"{_PROGRAM}:_verify_password", f"{_PROGRAM}:with_password_and_factor"),
        settings={"two_factor": "optional"},
    ),
    SignInPath("password, page", by_page, (_PAGE,), Credential.SESSION, BLOCKED_PAGE),
    SignInPath(
        "password, page for an application",
        by_page_for_application,
        (_PAGE, "protocols/oauth/authorize/responses/sent_parameters:issue"),
        Credential.CODE,
        BLOCKED_PAGE,
    ),
    SignInPath("password, page of an invitation", by_invitation, (_PAGE,), Credential.SESSION, BLOCKED_PAGE),
    SignInPath("password grant", by_grant, ("protocols/oauth/grants/password:exchange",), blocked="invalid_grant"),
)
