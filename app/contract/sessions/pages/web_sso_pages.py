"""Operations for the hub: sites of the tenant share the browser's session."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.sessions.models import Session
from app.kit.operations.wire import Wire

Origin = Annotated[str, Field(max_length=300)]


class SharedSessionRequest(Wire):
    """`origin` is the site whose script calls; empty for a page of our own."""

    origin: Origin = ""
    with_token: bool = False
    refreshes: bool = False


class SharedSession(Wire):
    """`token` ends with the session. `renewed` is the session's cookie, to be set again."""

    is_authenticated: bool = False
    token: str | None = None
    renewed_seconds: int | None = None


class SessionByToken(Wire):
    """An access token from the API, which a site exchanges for a session at the hub's host. `callback`: set for a browser
    navigation from `origin`."""

    token: Annotated[str, Field(max_length=8_000)] = ""
    api_key: Annotated[str, Field(max_length=100)] = ""
    origin: Origin = ""
    remember: bool = False
    callback: Annotated[str | None, Field(max_length=2_000)] = None


class TokenAccepted(Wire):
    """`session` is set where the browser gets another one."""

    is_token_valid: bool = False
    session: Session | None = None


class SharedSignOut(Wire):
    origin: Origin = ""


class SignedOut(Wire):
    ends_session: bool = False


_ERRORS = (errors.EndpointForbidden, errors.UnknownKey)

read = hub_operation(
    "hub.read_shared_session", "POST /hub/shared-session", SharedSessionRequest, SharedSession, errors=_ERRORS,
    summary="Tell a site whether the browser is signed in, and give it an access token of the session.",
)  # fmt: skip
start = hub_operation(
    "hub.begin_shared_session", "POST /hub/shared-session/token", SessionByToken, TokenAccepted, errors=_ERRORS,
    summary="Begin the browser's session by an access token that a site brings, once.",
)  # fmt: skip
end = hub_operation(
    "hub.end_shared_session", "POST /hub/shared-session/end", SharedSignOut, SignedOut, errors=_ERRORS,
    summary="End the browser's session for a site.",
)  # fmt: skip
