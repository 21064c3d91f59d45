"""Sign-ins of a browser that is signed in already, which continue its session, and reauthentications."""

from __future__ import annotations

from app.contract.second_factors.challenge import FactorKind
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.factors import DRIVER, holder_of
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.programs import own_token
from tests.support.sign_in_paths.results import Credential, SignedIn, of_page
from tests.support.tenants.tenant_server import answered

NEW = "Quartz-lantern-58"


def by_password_again(who: SigningAccount) -> Steps:
    visitor, shop = who.signed_in_browser(), who.application()
    yield
    page = visitor.authorize(shop, prompt="login")
    return of_page(page.press("Continue", password=who.person.password))


def by_password_for_page(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    who.advance_clock(minutes=10)
    yield
    page = visitor.open("/confirm?next=/emails")
    yield
    return of_page(page.press("Continue", password=who.person.password))


def by_factor_for_page(who: SigningAccount) -> Steps:
    holder, visitor = holder_of(who), who.signed_in_browser()
    DRIVER[FactorKind.TOTP].enrol(holder)
    holder.advance_clock(minutes=10)
    yield
    page = visitor.open("/confirm?next=/emails")
    yield
    return of_page(page.press("Verify", code=holder.next_code()))


def by_factor_for_application(who: SigningAccount) -> Steps:
    """Show the second factor for an application that wants two, in a session that began by one."""
    holder, visitor, shop = holder_of(who), who.signed_in_browser(), who.application()
    DRIVER[FactorKind.TOTP].enrol(holder)
    yield
    page = visitor.authorize(shop, acr_values="2")
    yield
    return of_page(page.press("Verify", code=holder.next_code()))


def by_new_password(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    yield
    page = visitor.open("/change-password")
    yield
    return of_page(page.press("Save password", old_password=who.person.password, new_password=NEW))


def by_first_password(who: SigningAccount) -> Steps:
    visitor = who.signed_in_browser()
    who.set_columns(password_hash=None)
    yield
    page = visitor.open("/change-password")
    yield
    return of_page(page.press("Save password", new_password=NEW))


def by_step_up(who: SigningAccount) -> Steps:
    """Show the password for a token, which counts as freshly authenticated from then on."""
    token = own_token(who)
    who.advance_clock(minutes=10)
    yield
    body = {"password": who.person.password}
    answered(who.tenant.send("PUT", "/identity/v2/auth/account/reauth/password", body, bearer=token))
    return SignedIn(Credential.ACCESS_TOKEN, token)


_PASSWORD = "pages_api/accounts/password"
PATHS = (
    SignInPath(
        "step-up of a token by password, program",
        by_step_up,
        ("credentials/second_factors/step_up:issue",),
        blocked="1409",
        logins=0,
        asks_lock=True,
    ),
    SignInPath(
        "password again, page for an application",
        by_password_again,
        ("pages_api/sign_in/password:with_password", "protocols/oauth/authorize/responses/sent_parameters:issue"),
        Credential.CODE,
        "Sign in",
    ),
    SignInPath(
        "reauthentication by password, page",
        by_password_for_page,
        ("authentication/sign_in/reauthentication_rules:_renew_session",),
        Credential.SESSION,
        "Sign in",
        logins=0,
    ),
    SignInPath(
        "reauthentication by second factor, page",
        by_factor_for_page,
        ("pages_api/sign_in/second_factor:_renew_session",),
        Credential.SESSION,
        "Sign in",
        settings=DRIVER[FactorKind.TOTP].tenant_settings(two_factor="optional"),
        logins=0,
    ),
    SignInPath(
        "second factor for an application's acr",
        by_factor_for_application,
        ("pages_api/sign_in/second_factor:_renew_session", "protocols/oauth/authorize/responses/sent_parameters:issue"),
        Credential.CODE,
        "Sign in",
        settings=DRIVER[FactorKind.TOTP].tenant_settings(two_factor="optional"),
        logins=0,
    ),
    SignInPath(
        "changed password, page",
        by_new_password,
        (f"{_PASSWORD}:change_password",),
        Credential.SESSION,
        "Sign in",
        logins=0,
    ),
    SignInPath(
        "first password, page",
        by_first_password,
        (f"{_PASSWORD}:set_first_password",),
        Credential.SESSION,
        "Sign in",
        logins=0,
    ),
)
