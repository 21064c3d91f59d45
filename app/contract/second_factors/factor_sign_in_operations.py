"""The login with second factors."""

from app.contract import errors
from app.contract.auth import API_KEY
from app.contract.catalogue import HASHES, operation
from app.contract.second_factors.challenge import (
    DUO_REDIRECT,
    TOKEN_ERRORS,
    AuthenticatorCode,
    ChallengeToken,
    Code,
    FactorLogin,
)
from app.contract.shared_parameters import (
    CaptchaSolution,
    FieldSelection,
    LockAnswers,
    RiskMessageTemplates,
    WebhookSuppression,
)
from app.contract.sign_in.sign_in_operations import LOGIN_ERRORS, PasswordLogin

_LOGIN = "/identity/v2/auth/login/2fa"


class ChallengeAnswer(
    ChallengeToken, FieldSelection, WebhookSuppression, CaptchaSolution, LockAnswers, RiskMessageTemplates
):
    """Parameters of every answer to a challenge."""


class TotpVerification(ChallengeAnswer, AuthenticatorCode):
    """The code of an authenticator app, under either of its names."""


class BackupCodeVerification(ChallengeAnswer):
    backup_code: Code = None


with_password = operation(
    "second_factors.with_password", f"POST {_LOGIN}", PasswordLogin, FactorLogin, auth=API_KEY, heavy_work=HASHES, row="M01",
    errors=(*LOGIN_ERRORS, *DUO_REDIRECT, errors.TwoFactorOff, errors.NoTwoFactorMethod),
    summary="Sign in with a password and second factor",
    description="Checks the password and exactly one of `email`, `username` and `phone`. If no second factor is needed, "
    "`SecondFactorAuthentication` is null and the response is a session. Otherwise `SecondFactorAuthentication` is a "
    "challenge: it lists the account’s factors, and its `SecondFactorAuthenticationToken` goes into the operation that "
    "answers it. If the tenant requires a second factor and the account has none, the challenge lets you set one up.",
)  # fmt: skip
_WITH_TOTP_ERRORS = (
    *TOKEN_ERRORS,
    errors.TotpOff,
    errors.TotpNotEnrolled,
    errors.WrongTotpCode,
    errors.FactorCodeMissing,
)
with_totp = operation(
    "second_factors.with_totp", f"PUT {_LOGIN}/totp", TotpVerification, FactorLogin, auth=API_KEY,
    also=(f"{_LOGIN}/verification/authenticatorcode", f"{_LOGIN}/verification/googleauthenticatorcode"), row="M03",
    errors=_WITH_TOTP_ERRORS,
    summary="Answer with an authenticator code",
    description="Answers a challenge with the code of an authenticator app and returns the session. If no app is set up yet, the "
    "first code sets up the one that scanned the challenge’s QR code. Each code works once.",
)  # fmt: skip
with_backup_code = operation(
    "second_factors.with_backup_code", f"PUT {_LOGIN}/backupcode", BackupCodeVerification, FactorLogin, auth=API_KEY,
    also=(f"{_LOGIN}/verification/backupcode",), row="M09", errors=(*TOKEN_ERRORS, errors.NoBackupCodes, errors.WrongBackupCode),
    summary="Answer with a backup code",
    description="Answers a challenge with one of the account’s backup codes and returns the session. Each code works once.",
)  # fmt: skip
