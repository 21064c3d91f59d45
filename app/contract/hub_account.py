"""Operations for the pages where an account is changed by its owner.

Sensitive changes require reauthentication if the last authentication is older than a few minutes (967).
"""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.accounts import MODEL_ERRORS
from app.contract.error_groups import (
    ADDED_EMAIL,
    EMAIL_CODE,
    EMAIL_DOMAINS,
    EMAIL_SENDING,
    LOCKS,
    REAUTHENTICATION,
    SMS_CODE,
    SMS_SENDING,
)
from app.contract.groups import Posted, SecurityAnswer
from app.contract.hub_models import InteractionOnly, LinkToken, PersonView, Session, Token
from app.contract.operations import HASHES, HASHES_SECRETS, hub_operation
from app.contract.registration_form import MAX_LETTERS, FormField
from app.contract.steps import StepResponse
from app.kit.wire import From, Wire

FieldText = Annotated[str, Field(max_length=MAX_LETTERS + 24)]  # one character too many is reported by the field
Address = Annotated[str, Field(max_length=320)]

DEFAULT_FIELDS = tuple(FormField(name=name) for name in ("first_name", "last_name", "birth_date", "company", "city"))
"""The editable fields if the tenant's form has none of them."""


def editable(form: tuple[FormField, ...]) -> tuple[FormField, ...]:
    """Return the fields of a tenant's form that the profile page can change."""
    return tuple(field for field in form if field.member or field.is_custom) or DEFAULT_FIELDS


class ProfileEdit(Wire):
    """Values by the field names of the tenant's form; an empty one clears the field."""

    fields: dict[str, FieldText] = Field(max_length=60)


class WithPassword(Wire):
    """`password`: for reauthentication."""

    password: str | None = Field(default=None, max_length=1024)


class SessionRenewal(Wire):
    """`session` after a reauthentication: the same session under a new cookie."""

    session: Session | None = None


class ReauthenticationRequest(Wire):
    """`landing`: the path on this host that follows."""

    landing: str = Field(pattern=r"^/[a-z][a-z/-]*(\?(kind|id|provider)=[A-Za-z0-9_-]{1,64})?$", max_length=100)
    interaction_id: str | None = (
        None  # the interaction of an application that requires a second factor; it continues instead
    )


class ReauthenticationStep(Wire):
    """`next`: the second factor's page; else whether the password or a new sign-in is required."""

    next: StepResponse | None = None
    person: PersonView
    is_needed: bool = True
    has_password: bool = True


class EmailEdit(WithPassword):
    email: Address


class EmailRequest(Wire):
    email: Address


class EmailCodeRequest(Wire):
    email: Address
    code: str = Field(max_length=64)


class PhoneEdit(WithPassword):
    phone: Address


class PhoneRequest(Wire):
    phone: Address


class PhoneCodeRequest(Wire):
    code: str = Field(max_length=64)


class AnswersEdit(WithPassword):
    answers: dict[str, SecurityAnswer] = Field(max_length=50)


class DeletionLinkRequest(Wire):
    token: Annotated[Token, From.QUERY]


class DeletionView(Wire):
    """The account that a link deletes; `days`: how long the deletion can be cancelled."""

    email: str
    days: int = 0


class DeletionScheduled(Wire):
    """`leaves_at`: until when the deletion can be cancelled; None: the account is deleted."""

    leaves_at: str | None = None
    ends_session: bool = False


class KeepRequest(Wire):
    token: Annotated[str, Field(max_length=500)]


class MissingFieldsRequest(Wire):
    interaction_id: str
    fields: dict[str, FieldText] = Field(max_length=60)


FORM_ERRORS = (
    *MODEL_ERRORS, *EMAIL_SENDING, *EMAIL_DOMAINS, e.NotAuthenticated, e.TooYoung, e.PrivacyPolicyOutdated, e.EmailUpdateRefused,
    e.PasswordNotAcceptable,
)  # fmt: skip

edit_profile = hub_operation(
    "hub.edit_profile", "POST /hub/own/profile", ProfileEdit, Posted, hashing=HASHES_SECRETS, errors=FORM_ERRORS,
    summary="Change the account's profile.",
)  # fmt: skip
add_email = hub_operation(
    "hub.add_email", "POST /hub/own/emails/add", EmailEdit, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*ADDED_EMAIL, *REAUTHENTICATION, *EMAIL_SENDING),
    summary="Email a link and a code to a new address; the response is the same for an address of another account.",
)  # fmt: skip
resend_email = hub_operation(
    "hub.mail_email_again", "POST /hub/own/emails/again", EmailRequest, Posted,
    errors=(*ADDED_EMAIL, *EMAIL_SENDING, e.NotAuthenticated, e.EmailNotOnProfile, e.EmailVerifiedBefore, e.EmailVerificationOff),
    summary="Resend the link and the code to an unverified address of the account.",
)  # fmt: skip
confirm_email = hub_operation(
    "hub.confirm_email", "POST /hub/own/emails/confirm", EmailCodeRequest, Posted,
    errors=(*LOCKS, *EMAIL_CODE, e.NotAuthenticated, e.MalformedEmail, e.EmailRegistered, e.EmailVerifiedBefore, e.ClosedLink),
    summary="Verify an address with an emailed code.",
)  # fmt: skip
make_primary = hub_operation(
    "hub.make_primary", "POST /hub/own/emails/primary", EmailEdit, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, e.MalformedEmail, e.EmailNotOnProfile, e.EmailNotAddable), summary="Make another address the primary one.",
)  # fmt: skip
request_phone_change = hub_operation(
    "hub.ask_phone", "POST /hub/own/phone/ask", PhoneEdit, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, *SMS_SENDING, e.PhoneLoginOff, e.MalformedPhone, e.PhoneRegistered),
    summary="Text a code to a new number; the response is the same for a number of another account.",
)  # fmt: skip
resend_phone_code = hub_operation(
    "hub.text_phone_again", "POST /hub/own/phone/again", PhoneRequest, Posted,
    errors=(*SMS_SENDING, e.NotAuthenticated, e.PhoneLoginOff, e.NoPhoneOnProfile, e.PhoneRegistered),
    summary="Resend the code to the pending number.",
)  # fmt: skip
confirm_phone = hub_operation(
    "hub.confirm_phone", "POST /hub/own/phone/confirm", PhoneCodeRequest, Posted,
    errors=(*SMS_CODE, *LOCKS, e.NotAuthenticated, e.PhoneLoginOff, e.PhoneTaken),
    summary="Verify the pending number with a texted code.",
)  # fmt: skip
edit_answers = hub_operation(
    "hub.edit_answers", "POST /hub/own/answers", AnswersEdit, SessionRenewal, hashing=HASHES, errors=(*FORM_ERRORS, *REAUTHENTICATION),
    summary="Change the answers to security questions.",
)  # fmt: skip
read_deletion = hub_operation(
    "hub.read_deletion", "GET /hub/deletion", DeletionLinkRequest, DeletionView, errors=(e.WrongDeleteToken, e.UsedLink, e.ExpiredLink),
    summary="Read the state of a deletion link without using it.",
)  # fmt: skip
confirm_deletion = hub_operation(
    "hub.confirm_deletion", "POST /hub/deletion", LinkToken, DeletionScheduled,
    errors=(e.WrongDeleteToken, e.UsedLink, e.ExpiredLink), summary="Delete an account with an emailed link.",
)  # fmt: skip
cancel_deletion = hub_operation(
    "hub.keep_account", "POST /hub/deletion/undo", KeepRequest, Posted, errors=(e.WrongDeleteToken,),
    summary="Cancel a scheduled deletion with the token of a refused sign-in.",
)  # fmt: skip
accept_policy = hub_operation(
    "hub.accept_policy", "POST /hub/own/privacy-policy", InteractionOnly, StepResponse, errors=(e.NotAuthenticated,),
    summary="Accept the current privacy policy, and continue the interaction.",
)  # fmt: skip
fill_missing = hub_operation(
    "hub.fill_missing", "POST /hub/own/missing-fields", MissingFieldsRequest, StepResponse, hashing=HASHES_SECRETS, errors=FORM_ERRORS,
    summary="Submit the missing fields of the tenant's form, and continue the interaction.",
)  # fmt: skip
begin_reauthentication = hub_operation(
    "hub.begin_confirm", "POST /hub/own/confirm", ReauthenticationRequest, ReauthenticationStep, errors=(e.NotAuthenticated,),
    summary="Start a reauthentication; sends nothing.",
)  # fmt: skip
reauthenticate = hub_operation(
    "hub.confirm_with_password", "POST /hub/own/confirm/password", WithPassword, SessionRenewal, hashing=HASHES, errors=REAUTHENTICATION,
    summary="Reauthenticate with the password, if the account has no second factor.",
)  # fmt: skip
