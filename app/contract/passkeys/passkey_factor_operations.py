"""The passkey as second factor."""

from typing import Annotated

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import UID_ERRORS
from app.contract.passkeys.account_passkey_operations import AddPasskey
from app.contract.passkeys.models import CredentialParameter, ListedPasskey, LoginBegin, RegisterBegin
from app.contract.second_factors.account_factor_operations import ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, ChallengeToken, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.kit.operations.operation import Accept
from app.kit.operations.wire import From

_LOGIN, _OWN = "/identity/v2/auth/login/2fa", "/identity/v2/auth/account/2fa"
_MANAGED = "/identity/v2/manage/account/2fa"


class EnrolmentBegin(AccessTokenQuery):
    """The token of a challenge, or an access token: the account adds the factor while it is signed in."""

    second_factor_authentication_token: Annotated[str | None, From.QUERY] = None


class PasskeyVerification(ChallengeAnswer, CredentialParameter):
    """A credential with a challenge's token."""


_BEGIN_ENROLMENT_ERRORS = (
    *TOKEN_ERRORS, errors.PasskeyFactorOff, errors.PasskeyMisconfigured, errors.FactorEnrolledBefore, errors.TooManyRequests,
)  # fmt: skip
begin_enrolment = operation(
    "second_factors.begin_passkey_enrolment", f"GET {_LOGIN}/register/passkey/begin", EnrolmentBegin, RegisterBegin,
    auth=API_KEY & ACCESS_TOKEN | API_KEY, access=CREDENTIALS, row="M15", errors=_BEGIN_ENROLMENT_ERRORS,
    summary="Start setting up a passkey factor at sign-in",
    description="Returns the options for `navigator.credentials.create()`, to set up a passkey as second factor during a sign-in. It "
    "takes the challenge’s token, or an access token.",
)  # fmt: skip
enrol = operation(
    "second_factors.enrol_passkey", f"POST {_LOGIN}/register/passkey/finish", PasskeyVerification, FactorLogin, auth=API_KEY, row="M16",
    errors=(*TOKEN_ERRORS, errors.PasskeyFactorOff, errors.PasskeyRefused, errors.PasskeyMisconfigured, errors.FactorEnrolledBefore),
    summary="Finish setting up a passkey factor at sign-in",
    description="Adds the passkey as a second factor and finishes the sign-in: the response is a session.",
)  # fmt: skip
begin = operation(
    "second_factors.begin_passkey", f"GET {_LOGIN}/passkey/begin", ChallengeToken, LoginBegin, auth=API_KEY, row="M17",
    errors=(*TOKEN_ERRORS, errors.PasskeyFactorOff, errors.PasskeyMisconfigured, errors.PasskeyFactorNotEnrolled, errors.TooManyRequests),
    summary="Start answering with a passkey",
    description="Returns the options for `navigator.credentials.get()`, with the passkeys of the account that signs in.",
)  # fmt: skip
prove = operation(
    "second_factors.with_passkey", f"POST {_LOGIN}/passkey/finish", PasskeyVerification, FactorLogin, auth=API_KEY, row="M18",
    errors=(*TOKEN_ERRORS, errors.PasskeyFactorOff, errors.PasskeyRefused, errors.PasskeyMisconfigured, errors.PasskeyFactorNotEnrolled),
    summary="Answer with a passkey",
    description="Answers a challenge with the result of `navigator.credentials.get()` and returns the session.",
)  # fmt: skip
begin_own = operation(
    "second_factors.begin_own_passkey", f"GET {_OWN}/register/passkey/begin", AccessTokenQuery, RegisterBegin, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="M29", errors=(errors.PasskeyFactorOff, errors.PasskeyMisconfigured, errors.TooManyRequests),
    summary="Start setting up a passkey factor",
    description="Returns the options for `navigator.credentials.create()`, to set up a passkey as second factor of the signed-in "
    "account.",
)  # fmt: skip
enrol_own = operation(
    "second_factors.enrol_own_passkey", f"POST {_OWN}/register/passkey/finish", AddPasskey, ListedPasskey,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    row="M30", errors=(errors.PasskeyFactorOff, errors.PasskeyRefused, errors.PasskeyMisconfigured),
    summary="Finish setting up a passkey factor",
    description="Adds the passkey as a second factor of the signed-in account and returns it.",
)  # fmt: skip
remove_own = operation(
    "second_factors.remove_passkey", f"DELETE {_OWN}/passkey", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/authenticator/passkey",), row="M37", errors=(errors.PasskeyFactorOff, errors.PasskeyFactorNotEnrolled),
    summary="Remove passkey factors",
    description="Removes every passkey that is a second factor of the signed-in account. Passkeys for signing in stay.",
)  # fmt: skip
managed_remove = operation(
    "second_factors.managed_remove_passkey", f"DELETE {_MANAGED}/passkey", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope="profile:update",
    also=(f"{_MANAGED}/authenticator/passkey",), accepts=Accept.JSON, row="M38", errors=(*UID_ERRORS, errors.PasskeyFactorNotEnrolled),
    summary="Remove an account’s passkey factors",
    description="Removes every passkey that is a second factor of an account. Passkeys for signing in stay.",
)  # fmt: skip
