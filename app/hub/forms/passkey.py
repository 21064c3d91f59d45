"""What the pages of passkeys share: the form that brings a credential, and options for the script that asks for one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from flask import Response
from flask_babel import lazy_gettext as _l
from pydantic import ValidationError
from wtforms import HiddenField

from app.contract import errors as e
from app.contract.hub_passkeys import PasskeyOptions
from app.contract.passkeys.shapes import PresentedCredential
from app.hub.forms.base import HubForm
from app.hub.page import Notice, with_retry_after
from app.kit.errors import ApiError

_MOST_LETTERS: Final = 60_000
SCRIPTLESS: Final = Notice(
    _l("A passkey needs JavaScript"),
    _l("This browser did not run the script of the page. Allow JavaScript here, or go on with your password."),
    "note",
)
"""Of a form that came without a credential: everything else works without a script."""
FAILED: Final = Notice(
    _l("That passkey did not work"), _l("Try once more. Or go on with your password, and look at your passkeys then.")
)
OFF: Final = Notice(_l("Passkeys do not work here now"), _l("Go on with your password."))


class CredentialForm(HubForm):
    """What a browser's API gave; empty where no script ran."""

    credential = HiddenField()

    def to_request(self) -> Any:
        """The credential is read by `given`: what is none is no mistake in a field."""


def read_credential(form: Any) -> PresentedCredential | None:
    """Return the credential that a form brings; None where it brings none that can be read."""
    text = form.credential.data or ""
    if not text or len(text) > _MOST_LETTERS:
        return None
    try:
        return PresentedCredential.model_validate(json.loads(text))
    except (ValidationError, ValueError, RecursionError):
        return None


def options_response(form: HubForm, ask: Callable[[], PasskeyOptions]) -> Response:
    """Answer the script of a page with options; with nothing where its form is not ours, or the service refuses."""
    if not form.validate():
        return _json({}, 403)
    try:
        return _json(ask().options, 200)
    except ApiError as refusal:
        return with_retry_after(_json({}, refusal.status), refusal)


def notice_for(refusal: ApiError) -> Notice:
    """What a page says of a refused passkey."""
    return OFF if isinstance(refusal, (e.PasskeysOff, e.PasskeyMisconfigured)) else FAILED


def _json(told: dict[str, Any], status: int) -> Response:
    return Response(json.dumps(told), status=status, content_type="application/json")
