"""The login with second factors (interface mfa.md section 2, operations M01, M03, M09)."""

from app.contract import errors as e
from app.contract.auth import K
from app.contract.groups import CAP, LOCK, PW, RBQ, F
from app.contract.operations import HASHES, operation
from app.contract.second_factors.challenge import DUO_REDIRECT, MT, TOKEN_ERRORS, AuthenticatorCode, Code, FactorLogin
from app.contract.sign_in import LOGIN_ERRORS, PasswordLogin

_LOGIN = "/identity/v2/auth/login/2fa"


class ChallengeAnswer(MT, F, PW, CAP, LOCK, RBQ):
    """Parameters of every answer to a challenge."""


class TotpVerification(ChallengeAnswer, AuthenticatorCode):
    """The code of an authenticator app, under either of its names."""


class BackupCodeVerification(ChallengeAnswer):
    backup_code: Code = None


with_password = operation(
    "second_factors.with_password", f"POST {_LOGIN}", PasswordLogin, FactorLogin, auth=K, hashing=HASHES, row="M01",
    errors=(*LOGIN_ERRORS, *DUO_REDIRECT, e.TwoFactorOff, e.NoTwoFactorMethod),
    summary="Sign in with a password; answers a session, or a challenge if a second factor is needed.",
)  # fmt: skip
_WITH_TOTP_ERRORS = (*TOKEN_ERRORS, e.TotpOff, e.TotpNotEnrolled, e.WrongTotpCode, e.FactorCodeMissing)
with_totp = operation(
    "second_factors.with_totp", f"PUT {_LOGIN}/totp", TotpVerification, FactorLogin, auth=K,
    also=(f"{_LOGIN}/verification/authenticatorcode", f"{_LOGIN}/verification/googleauthenticatorcode"), row="M03",
    errors=_WITH_TOTP_ERRORS, summary="Answer a challenge with a code from an authenticator app; the first code enrols it.",
)  # fmt: skip
with_backup_code = operation(
    "second_factors.with_backup_code", f"PUT {_LOGIN}/backupcode", BackupCodeVerification, FactorLogin, auth=K,
    also=(f"{_LOGIN}/verification/backupcode",), row="M09", errors=(*TOKEN_ERRORS, e.NoBackupCodes, e.WrongBackupCode),
    summary="Answer a challenge with a backup code; each works once.",
)  # fmt: skip
