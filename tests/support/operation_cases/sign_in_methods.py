"""Every method by which a program signs an account in: the settings of a tenant that has them all, and one call of each."""

from __future__ import annotations

from collections.abc import Callable

from werkzeug.test import TestResponse

from tests.support.accounts.pinned import PINS
from tests.support.credentials.passkeys import PasskeyHolder
from tests.support.operation_cases.passwordless import MAIL, SMS, by_link, link
from tests.support.operation_cases.smart_login import approved, poll

EVERY = {
    **PINS, "passwordless_email": True, "passwordless_sms": True, "phone_login": True, "smart_login": True, "login_on_password_reset": True,
}  # fmt: skip
Act = Callable[[PasskeyHolder], TestResponse]
METHODS: dict[str, tuple[str, Act]] = {
    "password": ("password", lambda who: who.logs_in()),
    "passkey": ("passkey", lambda who: who.sign_in()),
    "offered passkey": ("passkey", lambda who: who.sign_in_by_autofill()),
    "email link": ("email", lambda who: by_link(who, link(who))),
    "email code": ("email", lambda who: MAIL.shown(who, MAIL.code(who))),
    "text message": ("sms", lambda who: SMS.shown(who, SMS.code(who))),
    "smart login": ("email", lambda who: poll(who, approved(who))),
}
