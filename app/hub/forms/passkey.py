"""Forms with a WebAuthn credential, and the JSON response with options for the page's script."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from flask import Response
from pydantic import ValidationError
from wtforms import HiddenField

from app.contract import errors
from app.contract.passkeys.models import PresentedCredential
from app.contract.passkeys.passkey_pages import PasskeyOptions
from app.hub.client.identity_client import SignInRequired
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, with_retry_after
from app.hub.web.visit import current_visit
from app.kit import randomness
from app.kit.operations.errors import ApiError

_MAX_CHARACTERS: Final = 60_000
SCRIPTLESS: Final = Notice(
    _l("Passkeys need JavaScript"),
    _l("Turn on JavaScript, or use your password."),
    "note",
)
"""Shown after a form without a credential, which only a script can add."""
FAILED: Final = Notice(_l("That passkey didn’t work"), _l("Try again, or continue with your password."))
_OFF: Final = Notice(_l("Passkeys aren’t available right now"), _l("Continue with your password."))
PASSKEY_REFUSALS: Final[dict[type[ApiError], Notice]] = {
    errors.PasskeyRefused: FAILED,
    errors.PasskeysOff: _OFF,
    errors.PasskeyMisconfigured: _OFF,
}


class CredentialForm(HubForm):
    """The browser's credential as JSON; empty if no script ran."""

    credential = HiddenField()

    def to_request(self) -> Any:
        """Return None: `read_credential` reads the credential; a malformed credential is no field error."""


def read_credential(form: Any) -> PresentedCredential | None:
    """Return the credential of a form; None if it is missing or malformed."""
    text = form.credential.data or ""
    if not text or len(text) > _MAX_CHARACTERS:
        return None
    try:
        credential = PresentedCredential.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        return None
    if credential.authenticator_attachment == "platform":
        visit = current_visit()
        visit.device_passkey, visit.is_device_passkey_new = passkey_digest(credential.id), True
    return credential


def passkey_digest(credential_id: str) -> str:
    """Return the digest of a WebAuthn id in the cookie that marks the passkey of this device."""
    return randomness.digest(credential_id)[:16]


def options_response(form: HubForm, fetch: Callable[[], PasskeyOptions]) -> Response:
    """Return the options as JSON; an empty object for an invalid CSRF token or a refusal."""
    if not form.validate():
        return _json({}, 403)
    try:
        return _json(fetch().options, 200)
    except SignInRequired:
        return _json({}, 401)
    except ApiError as refusal:
        return with_retry_after(_json({}, refusal.status), refusal)


def _json(content: dict[str, Any], status: int) -> Response:
    return Response(json.dumps(content), status=status, content_type="application/json")
