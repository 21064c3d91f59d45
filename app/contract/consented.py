"""Consent by token: a sign-in that waits for it goes on (interface user.md row U83)."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import K
from app.contract.consents import ConsentAnswers
from app.contract.error_groups import SESSION_ERRORS
from app.contract.groups import PW
from app.contract.operations import operation
from app.contract.sign_in import Login
from app.kit.operation import Accept
from app.kit.wire import From


class SubmitConsentsByToken(PW, ConsentAnswers):
    consent_token: Annotated[str, From.QUERY, Field(max_length=200)]


_SUBMIT_ERRORS = (
    *SESSION_ERRORS, e.ConsentsOff, e.NoConsentForm, e.ConsentRefused, e.WrongConsentToken, e.ExpiredConsentToken, e.EmailUnverified,
    e.PhoneUnverified,
)  # fmt: skip
submit = operation(
    "consents.submit", "POST /identity/v2/auth/consent", SubmitConsentsByToken, Login, auth=K, accepts=Accept.JSON, row="U83",
    errors=_SUBMIT_ERRORS, summary="Answer the consent forms that a sign-in waits for, and get its session.",
)  # fmt: skip
