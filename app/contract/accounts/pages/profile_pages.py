"""Operations behind the pages where an account's profile and username are read and changed."""

from typing import Annotated, Any

from pydantic import Field

from app.contract import errors
from app.contract.accounts.account_operations import MODEL_ERRORS
from app.contract.accounts.pages.email_and_phone_pages import EmailView
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import HASHES_SECRETS, hub_operation
from app.contract.error_groups import (
    EMAIL_DOMAINS,
    EMAIL_SENDING,
)
from app.contract.registration.form import MAX_LETTERS, FormField
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.contract.tenants.settings import PasswordPolicy
from app.kit.operations.wire import From, Wire

FieldText = Annotated[str, Field(max_length=MAX_LETTERS + 24)]  # one character too many is reported by the field

DEFAULT_FIELDS = tuple(FormField(name=name) for name in ("first_name", "last_name", "birth_date", "company", "city"))
"""The editable fields if the tenant's form has none of them."""


def editable(form: tuple[FormField, ...]) -> tuple[FormField, ...]:
    """Return the fields of a tenant's form that the profile page can change."""
    return tuple(field for field in form if field.member or field.is_custom) or DEFAULT_FIELDS


class ProfileEdit(Wire):
    """Values by the field names of the tenant's form; an empty one clears the field."""

    fields: dict[str, FieldText] = Field(max_length=60)


class MissingFieldsRequest(Wire):
    interaction_id: str
    fields: dict[str, FieldText] = Field(max_length=60)


FORM_ERRORS = (
    *MODEL_ERRORS, *EMAIL_SENDING, *EMAIL_DOMAINS, errors.NotAuthenticated, errors.TooYoung, errors.PrivacyPolicyOutdated,
    errors.EmailUpdateRefused,
    errors.PasswordNotAcceptable,
)  # fmt: skip

edit_profile = hub_operation(
    "hub.edit_profile", "POST /hub/own/profile", ProfileEdit, Posted, heavy_work=HASHES_SECRETS, errors=FORM_ERRORS,
    summary="Change the account's profile.",
)  # fmt: skip
fill_missing = hub_operation(
    "hub.fill_missing", "POST /hub/own/missing-fields", MissingFieldsRequest, StepResponse, heavy_work=HASHES_SECRETS, errors=FORM_ERRORS,
    summary="Submit the missing fields of the tenant's form, and continue the interaction.",
)  # fmt: skip


class ProfileRequest(Wire):
    with_requested_phone: Annotated[bool, From.QUERY] = False
    with_emails: Annotated[bool, From.QUERY] = False
    with_checkup: Annotated[bool, From.QUERY] = False
    with_password_policy: Annotated[bool, From.QUERY] = False


class ProfileResponse(AccountView):
    """The account's profile page. `profile` is what its owner entered, by the names of the interface's profile."""

    profile: dict[str, Any]
    has_password: bool = True
    answered: list[str] = Field(default_factory=list)  # ids of the security questions that have an answer
    phone: str | None = None  # formatted for display
    requested_phone: str | None = None  # pending: a code was texted, but not entered yet
    resend_in_seconds: int = 0  # wait before the next code for `requested_phone`
    addresses: list[EmailView] = Field(default_factory=list)
    registered_at: str | None = None
    has_to_do: bool = False  # the account could be made safer; only `with_checkup`
    password_policy: PasswordPolicy | None = (
        None  # with the rules of the account's organizations; only `with_password_policy`
    )


profile = hub_operation(
    "hub.profile", "GET /hub/profile", ProfileRequest, ProfileResponse, errors=(errors.NotAuthenticated,),
    summary="Read the account's profile; 1409 without a session.",
)  # fmt: skip
