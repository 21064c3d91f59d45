"""Sign-ins that a new password begins."""

from __future__ import annotations

from typing import Any

from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import code_in, link_in, path_of, token_in
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.messages import NUMBER
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_PAGE, Credential, of_page, of_program
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage, Visitor


def by_link(who: SigningAccount) -> Steps:
    yield
    token = token_in(who.mail())
    yield
    return of_program(who.reset(resettoken=token, password=NEW))


def by_code(who: SigningAccount) -> Steps:
    yield
    code = who.code()
    yield
    return of_program(who.by_code(code))


def by_texted_code(who: SigningAccount) -> Steps:
    yield
    answered(who.call("U35", {"phone": who.phone}))
    yield
    return of_program(who.call("U36", {"phone": who.phone, "otp": who.texted(), "password": NEW}))


def by_answers(who: SigningAccount) -> Steps:
    who.update_account(SecurityQuestionAnswer={"pet": "Grey Owl"})
    yield
    body = {"email": who.email, "password": NEW, "securityanswer": {"pet": "Grey Owl"}}
    return of_program(who.call("U37", body))


def requests_reset(who: SigningAccount, visitor: Visitor) -> VisitedPage:
    """Ask for a reset on our pages."""
    page = visitor.open("/login").at_password(who.email).follow("Forgot password?")
    return page.press("Send reset link", identifier=who.email)


def by_link_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = requests_reset(who, visitor)
    if not who.mails():
        return of_page(page)
    yield
    page = visitor.open(path_of(link_in(who.mailed())))
    yield
    return of_page(page.press("Save password", password=NEW))


def by_code_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = requests_reset(who, visitor)
    if not who.mails():
        return of_page(page)
    yield
    new = page.press("Verify", code=code_in(who.mailed()))
    yield
    return of_page(new.press("Save password", password=NEW))


def by_link_for_waiting_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = requests_reset(who, visitor)
    if not who.mails():
        return of_page(page)
    yield
    number = NUMBER.findall(page.text)[0]
    who.browser().open(path_of(link_in(who.mailed()))).press("Save password", password=NEW, number=number)
    yield
    fields = {**page.form("Resend email").fields, "do": "go"}
    return of_page(visitor.send("POST", page.address, fields))


def after_expiry(who: SigningAccount) -> Steps:
    who.world.set_password_age(who.person, days=31)
    visitor = who.browser()
    yield
    page = who.types_password(visitor.open("/login"))
    yield
    return of_page(page.press("Save password", password=NEW))


_RECOVERY = "pages_api/recovery/password_and_pin"
_PROGRAM, _PAGE = ("public_api/recovery/passwords:_response",), (f"{_RECOVERY}:_signed_in",)
_LOGS_IN: dict[str, Any] = {
    "login_on_password_reset": True, "reset_password_codes": True, "phone_login": True, "email_login": True, "username_login": True,
}  # fmt: skip
_SENT, _BLOCKED = "Check your email", "Account blocked"
SESSION = Credential.SESSION
PATHS = (
    SignInPath("new password by link, program", by_link, _PROGRAM, settings=_LOGS_IN),
    SignInPath("new password by code, program", by_code, _PROGRAM, settings=_LOGS_IN),
    SignInPath("new password by texted code, program", by_texted_code, _PROGRAM, settings=_LOGS_IN),
    SignInPath("new password by security answers, program", by_answers, _PROGRAM, settings=_LOGS_IN),
    SignInPath("new password by link, page", by_link_on_page, _PAGE, SESSION, _SENT, (_BLOCKED, _BLOCKED)),
    SignInPath("new password by code, page", by_code_on_page, _PAGE, SESSION, _SENT, (_BLOCKED, _BLOCKED)),
    SignInPath(
        "new password for a waiting page",
        by_link_for_waiting_page,
        _PAGE,
        SESSION,
        _SENT,
        (_SENT, "Sign in"),
    ),
    SignInPath(
        "new password after expiry, page",
        after_expiry,
        ("pages_api/sign_in/password:with_password", *_PAGE, f"{_RECOVERY}:_after_expired_password"),
        SESSION,
        BLOCKED_PAGE,
        (_BLOCKED,),
        settings={"password_policy": {"expiry_days": 30}},
    ),
)
