"""Registrations that sign in at once, and verifications of an address or number that sign in."""

from __future__ import annotations

import json
from typing import Any

from tests.support.accounts.mailbox import code_in, link_in, path_of, token_in
from tests.support.accounts.registering import primary, register
from tests.support.credentials.passkeys import A
from tests.support.organizations.invitations import GUEST, inviting_business
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.messages import NUMBER
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.providers import START, provider_of, returned
from tests.support.sign_in_paths.results import BLOCKED_PAGE, CLOSED_CODE, Credential, of_page, of_program
from tests.support.tenants.tenant_server import PASSWORD, answered

NEW = "new@example.test"


def by_program(who: SigningAccount) -> Steps:
    yield
    return of_program(register(who.tenant, NEW))


def by_passkey_of_program(who: SigningAccount) -> Steps:
    yield
    made = who.device.makes(who.begins(f"{A}/register/passkey/begin", identifier=NEW))
    return of_program(who.gives(f"{A}/register/passkey/finish", made))


def by_invitation_of_program(who: SigningAccount) -> Steps:
    business = inviting_business(who.tenant)
    business.invite()
    yield
    query = {"invitation_token": business.token()}
    return of_program(register(who.tenant, Email=primary(GUEST), query=query))


def by_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    return of_page(visitor.open("/register").press("Create account", email=NEW, password=PASSWORD))


def by_passkey_on_page(who: SigningAccount) -> Steps:
    visitor, button = who.browser(), "Continue with a passkey"
    yield
    page = visitor.open("/register")
    form = {**page.form(button).fields, "email": NEW}
    options = visitor.send("POST", f"{visitor.home}/register/passkey/options", form)
    made = json.dumps(who.device.makes(json.loads(options.html)))
    return of_page(page.press(button, email=NEW, credential=made))


def by_provider_on_page(who: SigningAccount) -> Steps:
    """Register with the identity of a provider whose addresses the tenant does not trust."""
    provider, visitor = provider_of(who), who.browser()
    yield
    led = visitor.open(START)
    form = returned(provider, visitor, led.address, sub="new", email=NEW)
    return of_page(form.press("Create account", email=NEW))


def by_invitation_on_page(who: SigningAccount) -> Steps:
    business, visitor = inviting_business(who.tenant), who.browser()
    business.invite(NEW)
    yield
    form = visitor.open(f"/i/{business.token(NEW)}").press("Create account to join")
    return of_page(form.press("Create account", password=PASSWORD))


def unverified(who: SigningAccount) -> None:
    who.tenant.update(who.uid, {"EmailVerified": False, "PhoneIdVerified": False})


def by_verification_link(who: SigningAccount) -> Steps:
    unverified(who)
    yield
    answered(who.ask("PUT", {"email": who.email}, path="/identity/v2/auth/register"))
    yield
    token = token_in(who.mailed())
    return of_program(who.ask("GET", path="/identity/v2/auth/email", body=None, verificationtoken=token))


def by_verification_code(who: SigningAccount) -> Steps:
    unverified(who)
    yield
    answered(who.ask("PUT", {"email": who.email}, path="/identity/v2/auth/register"))
    yield
    return of_program(who.call("U06", {"email": who.email, "otp": code_in(who.mailed())}))


def by_verified_number(who: SigningAccount) -> Steps:
    unverified(who)
    yield
    answered(who.ask("POST", {"phone": who.phone}, path="/identity/v2/auth/phone/otp"))
    yield
    return of_program(who.ask("PUT", {"phone": who.phone}, path="/identity/v2/auth/phone/otp", otp=who.texted()))


def by_verification_link_on_page(who: SigningAccount) -> Steps:
    unverified(who)
    visitor = who.browser()
    yield
    page = who.types_password(visitor.open("/login"))
    page.form("Verify")
    yield
    return of_page(visitor.open(path_of(link_in(who.mailed()))).press("Verify"))


def by_verification_code_on_page(who: SigningAccount) -> Steps:
    unverified(who)
    visitor = who.browser()
    yield
    page = who.types_password(visitor.open("/login"))
    page.form("Verify")
    yield
    return of_page(page.press("Verify", code=code_in(who.mailed())))


def by_verification_link_in_other_browser(who: SigningAccount) -> Steps:
    unverified(who)
    yield
    answered(who.ask("PUT", {"email": who.email}, path="/identity/v2/auth/register"))
    yield
    return of_page(who.browser().open(path_of(link_in(who.mailed()))).press("Verify"))


def by_verification_link_for_waiting_page(who: SigningAccount) -> Steps:
    unverified(who)
    visitor = who.browser()
    yield
    page = who.types_password(visitor.open("/login"))
    page.form("Verify")
    yield
    number = NUMBER.findall(page.text)[0]
    who.browser().open(path_of(link_in(who.mailed()))).press("Verify", number=number)
    yield
    return of_page(page.press("Continue", code=""))


def by_verified_number_on_page(who: SigningAccount) -> Steps:
    unverified(who)
    visitor = who.browser()
    yield
    page = visitor.open("/login").sign_in(who.phone, who.person.password)
    page.form("Verify")
    yield
    return of_page(page.press("Verify", code=who.texted()))


_ANYONE: dict[str, Any] = {"email_verification": "disabled"}
_LOGS_IN: dict[str, Any] = {"login_on_email_verification": True, "email_verification_codes": True, "phone_login": True}
_PROGRAM, _PAGE = (
    ("public_api/registration:_login", "public_api/registration:_respond"),
    ("pages_api/registration/register:_continue",),
)
_PASSWORD = "pages_api/sign_in/password:with_password"
_EMAIL = ("public_api/verification/email_confirmation:_confirm",)
_VERIFY = "pages_api/registration/verify_identifier"
SESSION = Credential.SESSION
PATHS = (
    SignInPath("registration, program", by_program, _PROGRAM, blocked=None, settings=_ANYONE),
    SignInPath(
        "registration by passkey, program",
        by_passkey_of_program,
        _PROGRAM,
        blocked=None,
        settings={**_ANYONE, "passkeys": True},
    ),
    SignInPath("registration by invitation, program", by_invitation_of_program, _PROGRAM, blocked=None),
    SignInPath("registration, page", by_page, _PAGE, SESSION, None, settings=_ANYONE),
    SignInPath(
        "registration by passkey, page",
        by_passkey_on_page,
        _PAGE,
        SESSION,
        None,
        settings={**_ANYONE, "passkeys": True},
    ),
    SignInPath("registration by provider, page", by_provider_on_page, _PAGE, SESSION, None, settings=_ANYONE),
    SignInPath("registration by invitation, page", by_invitation_on_page, _PAGE, SESSION, None),
    SignInPath("verification link, program", by_verification_link, _EMAIL, blocked="979", settings=_LOGS_IN),
    SignInPath("verification code, program", by_verification_code, _EMAIL, blocked="979", settings=_LOGS_IN),
    SignInPath(
        "verified number, program",
        by_verified_number,
        ("public_api/verification/phone_confirmation:_sign_in",),
        meanwhile=("1070",),
        settings=_LOGS_IN,
    ),
    SignInPath(
        "verification link after the password, page",
        by_verification_link_on_page,
        (_PASSWORD, f"{_VERIFY}:_continue"),
        SESSION,
        BLOCKED_PAGE,
        ("Link expired",),
    ),
    SignInPath(
        "verification code after the password, page",
        by_verification_code_on_page,
        (_PASSWORD, f"{_VERIFY}:_continue"),
        SESSION,
        BLOCKED_PAGE,
        (f"Check your email: {CLOSED_CODE}",),
    ),
    SignInPath(
        "verification link in another browser, page",
        by_verification_link_in_other_browser,
        (f"{_VERIFY}:_continue",),
        SESSION,
        "Link expired",
        settings=_LOGS_IN,
    ),
    SignInPath(
        "verification link for a waiting page",
        by_verification_link_for_waiting_page,
        (_PASSWORD, f"{_VERIFY}:_continue"),
        SESSION,
        BLOCKED_PAGE,
        ("Check your email", "Email verified"),
    ),
    SignInPath(
        "verified number after the password, page",
        by_verified_number_on_page,
        (_PASSWORD, f"{_VERIFY}:_verify_by_sms"),
        SESSION,
        BLOCKED_PAGE,
        (f"Check your phone: {CLOSED_CODE}",),
        settings=_LOGS_IN,
    ),
)
