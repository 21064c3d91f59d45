"""Operations for the hub: sign-out, and the address of the session iframe."""

from typing import Final

from app.contract.operations import hub_operation
from app.contract.steps import StepResponse
from app.kit.wire import Wire

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
