"""Models of sessions: their cookies, and the accounts that a browser is signed in to."""

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
