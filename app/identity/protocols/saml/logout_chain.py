"""What is left of a sign-out that leads the browser from one service provider to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Final

from pydantic import TypeAdapter

from app.identity.authentication.sign_in.sessions.session_ends import EndedSession
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose

MAX_SERVICE_PROVIDERS: Final = 20
"""The ones that took part last; a browser that must visit more would not arrive."""
_LIFETIME: Final = timedelta(minutes=10)


@dataclass(frozen=True)
class Participant:
    """A service provider of an ended session."""

    app: str
    name_id: str  # its format, a space, and the value
    session_id: str


@dataclass(frozen=True)
class LogoutDemand:
    """The accepted request of a service provider, which gets a response at the end."""

    app: str
    request_id: str
    name_id: str  # the value alone: the format may be left out
    session_indexes: tuple[str, ...] = ()
    relay_state: str = ""


@dataclass(frozen=True)
class LogoutChain:
    """A sign-out under way. Between two service providers, a token has it."""

    left: tuple[Participant, ...] = ()
    demand: LogoutDemand | None = None
    is_demand_open: bool = False
    """Whether the sessions that the demand names must still be ended: it was posted, without the browser's cookies."""
    onward: str = ""
    """Where the browser goes at the end; empty for the page that says that it is signed out."""
    is_partial: bool = False
    asked_app: str = ""
    asked_request_id: str = ""
    """The service provider whose answer is awaited, and the ID of our request."""


_ADAPTER: Final = TypeAdapter(LogoutChain)


def participants_of(ended: Iterable[EndedSession], *, but: str = "") -> tuple[Participant, ...]:
    """Return the service providers of sessions that ended, the most recent one first.

    Args:
        but: the one that demanded the sign-out.
    """
    return tuple(
        Participant(name, name_id, session.session_id)
        for session in ended
        for name, name_id in reversed(session.service_providers.items())
        if name != but
    )


def with_participants(chain: LogoutChain, found: tuple[Participant, ...]) -> LogoutChain:
    """Return the chain that visits the first of `found`; one that leaves some unvisited is partial."""
    left = found[:MAX_SERVICE_PROVIDERS]
    return replace(chain, left=left, is_partial=chain.is_partial or len(left) < len(found))


def store(context: Context, chain: LogoutChain) -> str:
    """Return the token of a chain, which is used once."""
    issued = continuation_tokens.issue(
        context, ContinuationPurpose.SAML_LOGOUT, NO_ACCOUNT, lifetime=_LIFETIME, facts=asdict(chain)
    )
    return issued.text


def find(context: Context, text: str) -> LogoutChain | None:
    """Return the chain of a token that was not used yet."""
    token = continuation_tokens.find(context, ContinuationPurpose.SAML_LOGOUT, text)
    return _ADAPTER.validate_python(token.facts) if token is not None and not token.is_expired(context.now) else None


def take(context: Context, text: str) -> LogoutChain | None:
    """Return the chain of a token and use it; of several concurrent uses, one gets it."""
    token = continuation_tokens.find(context, ContinuationPurpose.SAML_LOGOUT, text)
    if token is None or token.is_expired(context.now) or not continuation_tokens.spend(context, token):
        return None
    return _ADAPTER.validate_python(token.facts)
