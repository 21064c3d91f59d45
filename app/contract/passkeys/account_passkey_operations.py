"""Passkeys of an account, with its access token or by its id."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN, READ
from app.contract.catalogue import operation
from app.contract.error_groups import PASSKEY, UID_ERRORS
from app.contract.passkeys.models import CredentialParameter, ListedPasskeys, OwnRegisterBegin
from app.contract.second_factors.account_factor_operations import ManagedFactor
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From

_OWN, _MANAGED = "/identity/v2/auth/account", "/identity/v2/manage/account/passkey"
Id = Annotated[str, From.PATH, Field(max_length=100)]


class AddPasskey(AccessTokenQuery, CredentialParameter):
    """A new credential of a browser."""


class RemoveOwnPasskey(AccessTokenQuery):
    passkey_id: Id


class ManagedPasskey(ManagedFactor):
    passkey_id: Id


begin = operation(
    "passkeys.begin", f"GET {_OWN}/register/passkey/begin", AccessTokenQuery, OwnRegisterBegin,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="M57",
    errors=(errors.PasskeysOff, errors.PasskeyMisconfigured, errors.PasskeyNeedsEmail, errors.TooManyRequests),
    summary="Start adding a passkey",
    description="Returns the options for `navigator.credentials.create()`, for the signed-in account. Send the result to `POST "
    "/identity/v2/auth/account/register/passkey/finish`.",
)  # fmt: skip
add = operation(
    "passkeys.add", f"POST {_OWN}/register/passkey/finish", AddPasskey, ListedPasskeys, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="M58", errors=(*PASSKEY,),
    summary="Add a passkey",
    description="Adds the new passkey to the signed-in account and returns all its passkeys.",
)  # fmt: skip
listed = operation(
    "passkeys.listed", f"GET {_OWN}/passkey", AccessTokenQuery, ListedPasskeys, auth=API_KEY & ACCESS_TOKEN, access=READ, row="M59",
    errors=(errors.PasskeysOff, errors.NoPasskey),
    summary="List passkeys",
    description="Returns the passkeys of the signed-in account with the authenticator’s name and when each was created.",
)  # fmt: skip
remove = operation(
    "passkeys.remove", f"DELETE {_OWN}/passkey/{{passkeyid}}", RemoveOwnPasskey, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    accepts=Accept.JSON, row="M60", visits=True, errors=(errors.UnknownPasskey,),
    summary="Delete a passkey",
    description="Deletes a passkey of the signed-in account. It can’t sign in anymore.",
)  # fmt: skip
managed_listed = operation(
    "passkeys.managed_listed", f"GET {_MANAGED}", ManagedFactor, ListedPasskeys,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:read", row="M61", errors=(*UID_ERRORS, errors.NoPasskey),
    summary="List an account’s passkeys",
    description="Returns the passkeys of any account with the authenticator’s name and when each was created.",
)  # fmt: skip
managed_remove = operation(
    "passkeys.managed_remove", f"DELETE {_MANAGED}/{{passkeyid}}", ManagedPasskey, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    row="M62", errors=(*UID_ERRORS, errors.UnknownPasskey),
    summary="Delete an account’s passkey",
    description="Deletes a passkey of any account, for example after a device was stolen.",
)  # fmt: skip
