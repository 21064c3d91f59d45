"""Sign-ins by a link or code in an email or text message, also with the approval of another device."""

from __future__ import annotations

import re

from tests.support.accounts.mailbox import code_in, link_in, links_in, path_of
from tests.support.journeys import passwordless
from tests.support.operation_cases import smart_login
from tests.support.operation_cases.passwordless import MAIL, SMS, USERNAME, by_link, link
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_LINK, CLOSED_CODE, Credential, of_page, of_program
from tests.support.tenants.tenant_server import answered

NUMBER = re.compile(r"Enter this number there: (\d\d)")


def by_email_link(who: SigningAccount) -> Steps:
    yield
    token = link(who)
    yield
    return of_program(by_link(who, token))


def by_email_code(who: SigningAccount) -> Steps:
    yield
    code = MAIL.code(who)
    yield
    return of_program(MAIL.shown(who, code))


def by_code_for_username(who: SigningAccount) -> Steps:
    yield
    code = USERNAME.code(who)
    yield
    return of_program(USERNAME.shown(who, code))


def by_sms_code(who: SigningAccount) -> Steps:
    yield
    code = SMS.code(who)
    yield
    return of_program(SMS.shown(who, code))


def by_smart_login(who: SigningAccount) -> Steps:
    yield
    guid, token = smart_login.begun_smart_login(who)
    yield
    answered(smart_login.click(who, token))
    yield
    return of_program(smart_login.poll(who, guid))


def by_one_touch_link(who: SigningAccount) -> Steps:
    yield
    guid, token = smart_login.touched(who, who.email)
    yield
    answered(smart_login.click(who, token, "U61"))
    yield
    return of_program(smart_login.poll(who, guid))


def by_one_touch_code(who: SigningAccount) -> Steps:
    yield
    answered(smart_login.solving("U59", {"phone": who.phone})(who))
    yield
    return of_program(who.call("U60", {"phone": who.phone}, otp=who.texted()))


def by_link_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    passwordless.by_mail(visitor.open("/login"), who.email)
    yield
    page = visitor.open(path_of(link_in(who.mailed())))
    yield
    return of_page(page.press("Sign in"))


def by_link_in_other_browser(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    passwordless.by_mail(visitor.open("/login"), who.email)
    yield
    return of_page(who.browser().open(path_of(link_in(who.mailed()))).press("Sign in here"))


def by_link_for_waiting_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = passwordless.by_mail(visitor.open("/login"), who.email)
    yield
    opened = who.browser().open(path_of(link_in(who.mailed())))
    opened.press("Sign in to Firefox on Linux", number=NUMBER.findall(page.text)[0])
    yield
    return of_page(page.press("Continue", code=""))


def by_email_code_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = passwordless.by_mail(visitor.open("/login"), who.email)
    yield
    return of_page(page.press("Sign in", code=code_in(who.mailed())))


def by_sms_code_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = visitor.open("/login").follow("Get a code by text message").press("Text me a code", identifier=who.phone)
    yield
    return of_page(page.press("Sign in", code=who.texted()))


def by_other_device_on_page(who: SigningAccount) -> Steps:
    visitor = who.browser()
    yield
    page = passwordless.by_device(visitor.open("/login"), who.email)
    yield
    if not links_in(who.mailed()):
        return of_page(page)
    number = passwordless.number_on(page)
    who.browser().open(path_of(link_in(who.mailed()))).press("Approve", number=number)
    yield
    return of_page(page.press("Continue"))


_MESSAGES, _SMART = "public_api/passwordless/messages", "public_api/passwordless/smart_login"
_PAGE = ("pages_api/sign_in/passwordless:complete_sign_in",)
_APPROVED = (*_PAGE, "pages_api/sign_in/passwordless:continue_approved")
SESSION = Credential.SESSION
_MAIL_SENT = "Check your email"
_ALL = {
    "passwordless_email": True, "passwordless_sms": True, "phone_login": True, "smart_login": True, "one_touch": True,
}  # fmt: skip
PATHS = (
    SignInPath("email link, program", by_email_link, (f"{_MESSAGES}:by_link",), settings=_ALL),
    SignInPath("email code, program", by_email_code, (f"{_MESSAGES}:_by_code",), settings=_ALL),
    SignInPath("email code for a username, program", by_code_for_username, (f"{_MESSAGES}:_by_code",), settings=_ALL),
    SignInPath("SMS code, program", by_sms_code, (f"{_MESSAGES}:_by_code",), settings=_ALL),
    SignInPath("smart login, program", by_smart_login, (f"{_SMART}:poll",), settings=_ALL),
    SignInPath("one-touch link, program", by_one_touch_link, (f"{_SMART}:poll",), settings=_ALL),
    SignInPath("one-touch code, program", by_one_touch_code, (f"{_SMART}:one_touch_code",), settings=_ALL),
    SignInPath("email link, page", by_link_on_page, _PAGE, SESSION, BLOCKED_LINK, settings=_ALL),
    SignInPath("email link, other browser", by_link_in_other_browser, _PAGE, SESSION, BLOCKED_LINK, settings=_ALL),
    SignInPath("email link, waiting page", by_link_for_waiting_page, _APPROVED, SESSION, _MAIL_SENT, settings=_ALL),
    SignInPath(
        "email code, page", by_email_code_on_page, _PAGE, SESSION, f"{_MAIL_SENT}: {CLOSED_CODE}", settings=_ALL
    ),
    SignInPath(
        "SMS code, page", by_sms_code_on_page, _PAGE, SESSION, f"Check your phone: {CLOSED_CODE}", settings=_ALL
    ),
    SignInPath(
        "approval on another device, page",
        by_other_device_on_page,
        _APPROVED,
        SESSION,
        _MAIL_SENT,
        ("Approved", "Approved"),
        settings=_ALL,
    ),
)
