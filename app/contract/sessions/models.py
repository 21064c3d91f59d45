"""Models of sessions: their cookies, and the accounts that a browser is signed in to."""

from typing import Literal

from pydantic import Field

from app.kit.operations.wire import Wire


class Session(Wire):
    """A session for an opaque cookie."""

    token: str
    lifetime_seconds: int | None = None  # None: until the browser closes


class OtherSessions(Wire):
    """The cookie with the sessions of the browser's other accounts; without tokens it is deleted."""

    tokens: list[str] = Field(default_factory=list)
    lifetime_seconds: int | None = None


class AccountOption(Wire):
    """An account that the browser is signed in to."""

    id: str  # of its session
    label: str
    name: str | None = None
    is_current: bool = False


class SelectAccountStep(Wire):
    """Choose one of the browser's accounts, or another one."""

    step: Literal["select_account"] = "select_account"
    accounts: list[AccountOption]


class SwitchAccountStep(Wire):
    """Switch to the account that a provider's answer signs in, or stay signed in to the browser's current one; with their labels."""

    step: Literal["switch_account"] = "switch_account"
    current: str
    other: str
