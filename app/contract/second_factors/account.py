"""Second factors of an account, by its access token or its id (interface mfa.md sections 3 and 4)."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import CREDENTIALS, K, M, S, U
from app.contract.error_groups import LOCK_CHALLENGES, UID_ERRORS
from app.contract.groups import AT, CAP, LOCK, PW, Deleted, F
from app.contract.operations import operation
from app.contract.profile import Profile
from app.contract.second_factors.challenge import DUO_REDIRECT, AuthenticatorCode, Factors
from app.kit.wire import From, Lower, Wire

Query = From.QUERY
_OWN, _MANAGED = "/identity/v2/auth/account/2fa", "/identity/v2/manage/account/2fa"
READ, WRITE = "profile:read", "profile:update"


class OwnFactorsRead(AT):
    """The template of the SMS that this operation sends, and the redirect address of Duo."""

    is_voice_otp: Annotated[bool, Query] = Field(default=False, alias="isvoiceotp")
    sms_template_2fa: Annotated[str | None, Query] = Field(default=None, alias="smstemplate2fa")
    duo_redirect_uri: Annotated[str | None, Query] = Field(default=None, alias="duoredirecturi")


class OwnFactors(Factors):
    """The account's second factors. `IsSecurityQuestionEnabled` is an older name of `IsSecurityQuestionAuthenticatorVerified`."""

    is_security_question_enabled: bool = False


class ManagedFactor(Lower):
    """The account by its id, in the query."""

    uid: Annotated[str, Query]


class OwnTotp(AT, F, PW, CAP, LOCK, AuthenticatorCode):
    """The first code enrols the authenticator app; a later one is only verified."""

    sms_template: Annotated[str | None, Query] = None


class LegacyRemoval(AT):
    """The authenticator to remove."""

    authenticator: bool = False
    otp_authenticator: bool = False


class LegacyManagedRemoval(ManagedFactor):
    authenticator: bool = False
    otp_authenticator: bool = False


class BackupCodes(Wire):
    back_up_codes: list[str]


read = operation(
    "second_factors.read", f"GET {_OWN}", OwnFactorsRead, OwnFactors, auth=K & U, access=CREDENTIALS, row="M19",
    errors=(*DUO_REDIRECT, e.TwoFactorOff, e.NoTwoFactorMethod),
    summary="Read the signed-in account's second factors, and what is needed to enrol an authenticator app.",
)  # fmt: skip
_PROVE_TOTP_ERRORS = (
    *LOCK_CHALLENGES, e.TwoFactorOff, e.TotpNotEnrolled, e.WrongTotpCode, e.FactorCodeMissing, e.TotpOff,
)  # fmt: skip
prove_totp = operation(
    "second_factors.prove_totp", f"PUT {_OWN}/totp", OwnTotp, Profile, auth=K & U, access=CREDENTIALS,
    also=(f"{_OWN}/verification/authenticatorcode", f"{_OWN}/verification/googleauthenticatorcode"), row="M20", errors=_PROVE_TOTP_ERRORS,
    summary="Enrol an authenticator app with its first code.",
)  # fmt: skip
make_backup_codes = operation(
    "second_factors.make_backup_codes", f"GET {_OWN}/backupcode", AT, BackupCodes, auth=K & U, access=CREDENTIALS, row="M27",
    errors=(e.BackupCodesMade, e.NoSecondFactor), summary="Create ten backup codes; this works once.",
)  # fmt: skip
renew_backup_codes = operation(
    "second_factors.renew_backup_codes", f"GET {_OWN}/backupcode/reset", AT, BackupCodes, auth=K & U, access=CREDENTIALS,
    row="M28", errors=(e.NoSecondFactor, e.NoBackupCodes), summary="Create ten new backup codes; the old ones stop working.",
)  # fmt: skip
remove_totp = operation(
    "second_factors.remove_totp", f"DELETE {_OWN}/totp", AT, Deleted, auth=K & U, access=CREDENTIALS, row="M31",
    errors=(e.TotpNotEnrolled,), summary="Remove the signed-in account's authenticator app.",
)  # fmt: skip
remove_older = operation(
    "second_factors.remove_older", f"DELETE {_OWN}/authenticator", LegacyRemoval, Deleted, auth=K & U, access=CREDENTIALS, row="M31",
    errors=(e.FactorRemovalRefused, e.TotpNotEnrolled, e.NoPhoneRegistered),
    summary="Remove the authenticator app or the SMS factor that the body names.",
)  # fmt: skip

managed_read = operation(
    "second_factors.managed_read", f"GET {_MANAGED}", ManagedFactor, OwnFactors, auth=K & S | M, scope=READ, row="M47", errors=UID_ERRORS,
    summary="Read an account's second factors, without secrets.",
)  # fmt: skip
managed_make_backup_codes = operation(
    "second_factors.managed_make_backup_codes", f"GET {_MANAGED}/backupcode", ManagedFactor, BackupCodes, auth=K & S | M, scope=WRITE,
    row="M45", errors=(*UID_ERRORS, e.BackupCodesMade, e.NoSecondFactor), summary="Create an account's backup codes; this works once.",
)  # fmt: skip
managed_renew_backup_codes = operation(
    "second_factors.managed_renew_backup_codes", f"GET {_MANAGED}/backupcode/reset", ManagedFactor, BackupCodes, auth=K & S | M,
    scope=WRITE, row="M46", errors=(*UID_ERRORS, e.NoSecondFactor), summary="Replace an account's backup codes.",
)  # fmt: skip
managed_remove_totp = operation(
    "second_factors.managed_remove_totp", f"DELETE {_MANAGED}/totp", ManagedFactor, Deleted, auth=K & S | M, scope=WRITE, row="M41",
    errors=(*UID_ERRORS, e.TotpNotEnrolled), summary="Remove an account's authenticator app.",
)  # fmt: skip
managed_remove_older = operation(
    "second_factors.managed_remove_older", f"DELETE {_MANAGED}/authenticator", LegacyManagedRemoval, Deleted, auth=K & S | M, scope=WRITE,
    row="M41", errors=(*UID_ERRORS, e.FactorRemovalRefused, e.TotpNotEnrolled, e.NoPhoneRegistered),
    summary="Remove an account's authenticator app or its SMS factor.",
)  # fmt: skip
