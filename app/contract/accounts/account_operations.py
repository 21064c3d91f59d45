"""Accounts: read by themselves, and managed by the tenant's servers."""

from functools import partial
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, MACHINE_TOKEN, READ
from app.contract.catalogue import HASHES_IN_BULK, HASHES_SECRETS_IN_BULK, operation
from app.contract.consents.consent_operations import ConsentAnswers
from app.contract.error_groups import UID_ERRORS
from app.contract.profile import Profile, Profiles, Write
from app.contract.profile.schema import describe_request
from app.contract.shared_parameters import (
    AccessTokenQuery,
    FieldSelection,
    PhoneInQuery,
    SecurityAnswer,
    Uid,
    WebhookSuppression,
)
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From, Wire

Query = From.QUERY
_written = partial(lambda writers, schema: describe_request(schema, *writers), (Write.ANYONE, Write.REGISTRATION))


class EmailEntry(Wire):
    """An email address of the account. Exactly one has the type `Primary`."""

    type: str | None = Field(default=None, max_length=50)
    value: str | None = Field(default=None, max_length=320)


class PolicyVersion(Wire):
    version: str | None = None


class AccountIdentifiers(Wire):
    """Identifiers of an account in the body."""

    email: list[EmailEntry] | None = Field(default=None, max_length=20)
    user_name: str | None = Field(default=None, max_length=320)


class PinInfo(Wire):
    """Whether the account has a PIN, or has declined one."""

    pin: str | None = Field(default=None, max_length=64, alias="PIN")
    skipped: bool | None = None


class PersonFields(Wire):
    """Fields that accounts and the tenant's servers can write, beside the free fields of the profile."""

    model_config = ConfigDict(extra="allow", json_schema_extra=_written)

    phone_id: str | None = Field(default=None, max_length=64)
    password: str | None = Field(default=None, max_length=4096)
    security_question_answer: dict[str, SecurityAnswer] | None = Field(default=None, max_length=20)
    pin_info: PinInfo | None = Field(default=None, alias="PINInfo")

    @property
    def free(self) -> dict[str, Any]:
        """The members that this model does not declare, unchanged."""
        return dict(self.model_extra or {})


class AccountFields(PersonFields):
    """Fields that only the tenant's servers can write."""

    email_verified: bool | None = None
    phone_id_verified: bool | None = None
    disable_login: bool | None = None
    registration_source: str | None = Field(default=None, max_length=500)
    privacy_policy: PolicyVersion | None = None
    session_limit: int | None = Field(
        default=None,
        ge=0,
        le=100,
        description="Maximum number of active sessions. Overrides the tenant's limit; 0 means no limit.",
    )


class NewAccountIdentifiers(AccountIdentifiers):
    """Identifiers of a new account."""

    uid: str | None = Field(default=None, max_length=100)  # if the tenant allows custom ids


class CreateAccount(FieldSelection, WebhookSuppression, NewAccountIdentifiers, AccountFields):
    """The registration model, with the members of the tenant's servers."""

    is_voice_otp: Annotated[bool, Query] = False
    consents: ConsentAnswers | None = None


class AccountUpdateFields(FieldSelection, WebhookSuppression, AccountFields):
    """A null clears a field with `nullsupport`; without it a null has no effect."""

    null_support: Annotated[bool, Query] = False
    is_active: bool | None = None
    is_deleted: bool | None = None
    is_login_locked: bool | None = None


class UpdateAccount(Uid, AccountIdentifiers, AccountUpdateFields):
    pass


class AccountIdentifier(Wire):
    """Exactly one of them identifies the account."""

    email: Annotated[str | None, Query] = None
    username: Annotated[str | None, Query] = None
    phone: PhoneInQuery = None


class UpdateAccountByIdentifier(AccountIdentifier, AccountUpdateFields):
    """The identifiers in the query identify the account; to change them, address it by its id."""


class ReadAccount(FieldSelection, AccountIdentifier):
    pass


class ReadAccountByUid(FieldSelection, Uid, Wire):
    pass


class ReadIdentities(FieldSelection, Wire):
    email: Annotated[str | None, Query] = None


class DeleteAccountByUid(WebhookSuppression, Uid, Wire):
    pass


class DeleteAccount(WebhookSuppression, AccountIdentifier):
    pass


class AccountDeleted(Wire):
    is_deleted: bool = True
    records_deleted: int = 1


class ReadOwnAccount(FieldSelection, AccessTokenQuery, Wire):
    welcome_email_template: Annotated[str | None, Query, Field(max_length=100)] = None
    email_template: Annotated[str | None, Query] = None
    verification_url: Annotated[str | None, Query] = None


MODEL_ERRORS = (
    errors.MalformedEmail, errors.EmailTypeMissing, errors.EmailTwice, errors.PrimaryEmailTwice, errors.MalformedPhone,
    errors.MalformedUsername,
    errors.UsernameFormatRefused, errors.AddressTypeTwice, errors.AddressTypeMissing, errors.PhoneTypeTwice, errors.PhoneTypeMissing,
    errors.MalformedDate,
    errors.UnknownCustomField, errors.UnknownPolicyVersion, errors.UnknownSecurityQuestion, errors.SecurityQuestionsOff,
    errors.FieldsRefused, errors.WeakPassword,
    errors.NewPasswordBreached, errors.EmailRegistered, errors.UsernameTaken, errors.PhoneTaken,
)  # fmt: skip
LOOKUP_ERRORS = (
    errors.IdentifierMissing,
    errors.MalformedEmail,
    errors.UnknownAccount,
    errors.UnknownUsername,
    errors.UnknownPhone,
)
CHANGE_ERRORS = (*MODEL_ERRORS, errors.EmailUpdateRefused, errors.PasswordNotAcceptable)

_CREATE_ERRORS = (
    *MODEL_ERRORS,
    errors.UidTaken,
    errors.MalformedUid,
    errors.PasswordMissing,
    errors.NoConsentForm,
    errors.ConsentRefused,
)
create = operation(
    "accounts.create", "POST /identity/v2/manage/account", CreateAccount, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:create",
    accepts=Accept.JSON, heavy_work=HASHES_IN_BULK, row="A01", errors=_CREATE_ERRORS,
    summary="Create an account",
    description="Creates an account from your server, with any profile fields. No email is sent and the sign-up form doesn’t apply. "
    "With `EmailVerified` the address counts as verified. Use it to import accounts or to create them in your own admin "
    "tool.",
)  # fmt: skip
read_by_identifier = operation(
    "accounts.read_by_identifier", "GET /identity/v2/manage/account", ReadAccount, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="A02", errors=LOOKUP_ERRORS,
    summary="Find an account",
    description="Returns the account with this email address, username or phone number. Send exactly one of them.",
)  # fmt: skip
read_by_uid = operation(
    "accounts.read_by_uid", "GET /identity/v2/manage/account/{uid}", ReadAccountByUid, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="A03", errors=UID_ERRORS,
    summary="Get an account",
    description="Returns the profile of an account.",
)  # fmt: skip
identities = operation(
    "accounts.identities", "GET /identity/v2/manage/account/identities", ReadIdentities, Profiles,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read",
    row="A04", errors=(errors.EmailMissing, errors.MalformedEmail, errors.UnknownAccount),
    summary="List accounts of an email address",
    description="Returns every account that has this email address, also accounts that a social sign-in created.",
)  # fmt: skip
update = operation(
    "accounts.update", "PUT /identity/v2/manage/account/{uid}", UpdateAccount, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    accepts=Accept.JSON, heavy_work=HASHES_SECRETS_IN_BULK, row="A05", errors=(*CHANGE_ERRORS, *UID_ERRORS),
    summary="Update an account",
    description="Changes the members of an account that the request contains. A null clears a field only with `nullsupport=true`. "
    "`IsActive: false` blocks the account, `DisableLogin: true` stops sign-ins, and `IsLoginLocked: false` ends a "
    "lockout.",
)  # fmt: skip
update_by_identifier = operation(
    "accounts.update_by_identifier", "PUT /identity/v2/manage/account", UpdateAccountByIdentifier, Profile,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:update", accepts=Accept.JSON, heavy_work=HASHES_SECRETS_IN_BULK, errors=(*LOOKUP_ERRORS, *CHANGE_ERRORS),
    summary="Update an account by email, username or phone",
    description="Changes the members of the account that `email`, `username` or `phone` names. A null clears a field only with "
    "`nullsupport=true`.",
)  # fmt: skip
delete_by_uid = operation(
    "accounts.delete_by_uid", "DELETE /identity/v2/manage/account/{uid}", DeleteAccountByUid, AccountDeleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:delete", row="A06", errors=UID_ERRORS,
    summary="Delete an account",
    description="Deletes an account with its sessions and tokens. This can’t be undone.",
)  # fmt: skip
delete_by_identifier = operation(
    "accounts.delete_by_identifier", "DELETE /identity/v2/manage/account", DeleteAccount, AccountDeleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN,
    scope="profile:delete", row="A07", errors=(*LOOKUP_ERRORS[1:], errors.EmailMissing),
    summary="Delete an account by email, username or phone",
    description="Deletes the account that `email`, `username` or `phone` names, with its sessions and tokens. This can’t be undone.",
)  # fmt: skip
read_own = operation(
    "accounts.read_own", "GET /identity/v2/auth/account", ReadOwnAccount, Profile, auth=API_KEY & ACCESS_TOKEN, access=READ, row="U15",
    errors=(errors.PrivacyPolicyOutdated,),
    summary="Get the signed-in account",
    description="Returns the profile of the signed-in account. With `fields` you get only the members you name.",
)  # fmt: skip
