"""How each authenticator is driven by the common suite: one class each, and one line here."""

from __future__ import annotations

from tests.support.authenticators.app import AppDriver
from tests.support.authenticators.driver import Driver
from tests.support.authenticators.duo import DuoDriver
from tests.support.authenticators.paper import PaperDriver
from tests.support.authenticators.passkey import PasskeyDriver
from tests.support.authenticators.push import PushDriver
from tests.support.authenticators.questions import QuestionsDriver
from tests.support.authenticators.sent import MailDriver, SmsDriver

DRIVERS: tuple[Driver, ...] = (
    PasskeyDriver(), AppDriver(), PushDriver(), SmsDriver(), MailDriver(), QuestionsDriver(), DuoDriver(), PaperDriver(),
)  # fmt: skip

__all__ = ["DRIVERS", "Driver"]
