"""Answers to the tenant's consent forms."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, MACHINE_TOKEN, READ, WRITE
from app.contract.catalogue import operation
from app.contract.consents.forms import MAX_OPTIONS
from app.contract.error_groups import SESSION_ERRORS, UID_ERRORS
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, Uid, WebhookSuppression
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

Query = From.QUERY
Name = Annotated[str, Field(max_length=100)]
_MAX_ANSWERS = 5 * MAX_OPTIONS


class ConsentEvent(Wire):
    """A consent form, named by its event."""

    event: Name
    is_custom: bool = False


class ConsentAnswer(Wire):
    consent_option_id: Name
    is_accepted: bool


class ConsentAnswers(Wire):
    """The answered forms and the answers."""

    events: list[ConsentEvent] = Field(default_factory=list, max_length=30)
    data: list[ConsentAnswer] = Field(default_factory=list, max_length=_MAX_ANSWERS)


class SubmitOwnConsents(AccessTokenQuery, WebhookSuppression, ConsentAnswers):
    pass


class UpdateOwnConsents(AccessTokenQuery, WebhookSuppression):
    consents: list[ConsentAnswer] = Field(alias="Consents", min_length=1, max_length=_MAX_ANSWERS)


class CheckOwnConsent(AccessTokenQuery):
    event: Annotated[Name, Query]
    is_custom: Annotated[bool, Query]


class AnsweredForm(Wire):
    event: str
    version: int
    is_custom: bool


class AcceptedConsent(Wire):
    consent_option_id: str
    accept_on_date: str


class ConsentProfile(Wire):
    """The accepted consents of an account, as its profile shows them."""

    accepted_consent_versions: list[AnsweredForm]
    consents: list[AcceptedConsent]


class ConsentValidity(Wire):
    """Whether the current version of a form is answered. `ConsentProfile` is null if the account hasn’t agreed to anything yet."""

    consent_profile: ConsentProfile | None
    is_valid: bool


class ConsentLogAnswer(Wire):
    consent_id: str
    event: Literal["Subscribe", "Unsubscribe", "NotOpted"]


class ConsentLog(Wire):
    """One change of consents: the answers, where they came from, and the forms that the account had answered afterwards."""

    id: str
    update_type: Literal["Default", "ConsentEditor", "FormMigration"]
    current_consent_forms_versions: list[AnsweredForm]
    logged_on_date: str
    user_agent: str
    ip: str = Field(alias="IP")
    host: str
    consent_logs: list[ConsentLogAnswer]


class ConsentLogs(Wire):
    """Every change of an account's consents, newest first."""

    uid: str
    consent_logs: list[ConsentLog]


_ERRORS = (errors.ConsentsOff, errors.NoConsentForm, errors.PrivacyPolicyOutdated)

give = operation(
    "consents.give", "POST /identity/v2/auth/consent/profile", SubmitOwnConsents, Profile, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, accepts=Accept.JSON, row="U84", errors=(*_ERRORS, errors.ConsentRefused),
    summary="Answer consent forms",
    description="Records the answers of the signed-in account to consent forms and returns its profile.",
)  # fmt: skip
change = operation(
    "consents.change", "PUT /identity/v2/auth/consent", UpdateOwnConsents, ConsentProfile, auth=API_KEY & ACCESS_TOKEN,
    access=WRITE, accepts=Accept.JSON, row="U85", visits=True, errors=(*_ERRORS, errors.ConsentRefused),
    summary="Change consents",
    description="Changes what the signed-in account agreed to. Only the options in the request change.",
)  # fmt: skip
verify = operation(
    "consents.verify", "GET /identity/v2/auth/consent/verify", CheckOwnConsent, ConsentValidity,
    auth=API_KEY & ACCESS_TOKEN, access=READ, row="U86", errors=(*_ERRORS, errors.RequestInvalid),
    summary="Check a consent form",
    description="Tells whether the signed-in account answered the current version of the form for `event`, and returns its answers.",
)  # fmt: skip
logs = operation(
    "consents.logs", "GET /identity/v2/auth/consent/logs", AccessTokenQuery, ConsentLogs, auth=API_KEY & ACCESS_TOKEN,
    access=READ, row="U87", errors=(errors.ConsentsOff, errors.NoConsentLogs, errors.PrivacyPolicyOutdated),
    summary="List the consent history",
    description="Returns how the signed-in account answered consent forms over time.",
)  # fmt: skip
managed_logs = operation(
    "consents.managed_logs", "GET /identity/v2/manage/account/{uid}/consent/logs", Uid, ConsentLogs,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="consent:read",
    row="A36", errors=(*UID_ERRORS, errors.ConsentsOff, errors.NoConsentLogs),
    summary="List an account’s consent history",
    description="Returns how an account answered consent forms over time.",
)  # fmt: skip


class SubmitConsentsByToken(WebhookSuppression, ConsentAnswers):
    consent_token: Annotated[str, From.QUERY, Field(max_length=200)]


_SUBMIT_ERRORS = (
    *SESSION_ERRORS, errors.ConsentsOff, errors.NoConsentForm, errors.ConsentRefused, errors.WrongConsentToken, errors.ExpiredConsentToken,
    errors.EmailUnverified, errors.PhoneUnverified, errors.TwoFactorOn,
)  # fmt: skip
submit = operation(
    "consents.submit", "POST /identity/v2/auth/consent", SubmitConsentsByToken, Login, auth=API_KEY, accepts=Accept.JSON, row="U83",
    errors=_SUBMIT_ERRORS,
    summary="Answer consent forms at sign-in",
    description="Records the answers that a sign-in asked for with error 1226, and returns the session. `consenttoken` is the "
    "`ConsentToken` in the error’s `Data`.",
)  # fmt: skip
