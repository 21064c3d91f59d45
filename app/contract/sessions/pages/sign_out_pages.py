"""Operations behind sign-out, of this browser and of the account's other sessions."""

from typing import Final

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire

CHECK_SESSION_PATH: Final = "/service/oidc/check-session"
"""The session iframe (OpenID Connect Session Management 1.0 section 3.2)."""


class SignOutRequest(Wire):
    """OpenID Connect RP-Initiated Logout 1.0 section 2; `confirmed` after the visitor confirmed on the page."""

    id_token_hint: str | None = None
    logout_hint: str | None = None
    client_id: str | None = None
    post_logout_redirect_uri: str | None = None
    state: str | None = None
    return_url: str | None = None
    ui_locales: str | None = None  # the hub's page is in one of these languages
    confirmed: bool = False
    everyone: bool = False  # of a confirmed request: each account of this browser


sign_out = hub_operation(
    "hub.sign_out", "POST /hub/sign-out", SignOutRequest, StepResponse,
    summary="End the browser session: REDIRECT, SIGNED_OUT, or CONFIRM_SIGN_OUT if the request is not authenticated by an ID token.",
)  # fmt: skip


class SessionView(Wire):
    """A live session of the account: in a browser, or of an application without one."""

    id: str
    is_current: bool
    application: str | None = None  # its name, if the session is not in a browser
    browser: str | None = None
    os: str | None = None
    device_type: str | None = None  # desktop, phone, tablet
    address: str | None = None
    signed_in_at: str
    last_seen_at: str
    relying_parties: list[str] = Field(default_factory=list)


class EndSessionRequest(Wire):
    """End one session by its id, or with `others` all but the current one."""

    id: str | None = None
    others: bool = False


end_session = hub_operation(
    "hub.end_session", "POST /hub/sessions/end", EndSessionRequest, StepResponse, errors=(errors.NotAuthenticated, errors.SessionExpired),
    summary="Sign out other sessions of the signed-in person.",
)  # fmt: skip
