"""Passkeys as the first factor: sign-up, sign-in, and a new one for a lost one (interface mfa.md section 6, rows M48-M56)."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.auth import K
from app.contract.groups import CAP, MF, PW, F, Posted
from app.contract.hashing import HASHES_IN_BULK
from app.contract.operations import operation
from app.contract.passkeys.shapes import PKC, LoginBegin, RegisterBegin, ShownCredential
from app.contract.passwords import CAPTCHA, LINK
from app.contract.registration import REGISTRATION_REFUSALS, Registered, RegistrationModel
from app.contract.second_factors.challenge import FactorLogin
from app.contract.sign_in import GATE_REFUSALS
from app.kit.wire import From, Lower

Query = From.QUERY
_A = "/identity/v2/auth"
Name = Annotated[str, Query, Field(max_length=320)]
Template = Annotated[str | None, Query, Field(max_length=100)]
Token = Annotated[str, Query, Field(max_length=200)]


class SignUpBegin(Lower):
    """The email of the account that is to be."""

    identifier: Name


class SignUpFinish(RegistrationModel):
    """The registration model; the passkey stands in the place of the password."""

    passkey_credential: ShownCredential = Field(alias="PasskeyCredential")


class SignInBegin(Lower):
    identifier: Name
    verification_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    email_template: Template = None


class SignInFinish(PKC, F, PW, MF):
    """The templates are for a second factor, where one is wanted all the same."""


class AutofillBegin(Lower):
    """Nothing: whoever has a passkey on this device is offered it."""


class Forgot(CAP):
    email: Annotated[str | None, Field(max_length=320)] = None
    reset_passkey_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    email_template: Template = None


class ResetBegin(Lower):
    vtoken: Token


class ResetFinish(PKC):
    vtoken: Token


SHOWN = (e.PasskeysOff, e.PasskeyRefused, e.PasskeyMisconfigured)
ENTERING = (
    e.AccountBlocked, e.LoginDisabled, e.EmailUnverified, *GATE_REFUSALS, e.TooManySessions, e.LockedForAWhile,
    e.LockedForCaptcha, e.LockedForSecurityQuestion,
)  # fmt: skip

begin_sign_up = operation(
    "passkeys.begin_sign_up", f"GET {_A}/register/passkey/begin", SignUpBegin, RegisterBegin, auth=K, row="M48",
    errors=(
        e.PasskeysOff, e.PasskeyMisconfigured, e.PasskeyNeedsEmail, e.EmailRegistered, e.MalformedEmail, e.RegistrationOff,
        e.TooManyRequests,
    ),
    summary="Start registering with a passkey instead of a password.",
)  # fmt: skip
finish_sign_up = operation(
    "passkeys.finish_sign_up", f"POST {_A}/register/passkey/finish", SignUpFinish, Registered, auth=K, hashing=HASHES_IN_BULK, row="M49",
    errors=(*SHOWN, e.PasskeyNeedsEmail, *REGISTRATION_REFUSALS), summary="Register with a passkey instead of a password.",
)  # fmt: skip
begin_sign_in = operation(
    "passkeys.begin_sign_in", f"GET {_A}/login/passkey/begin", SignInBegin, LoginBegin, auth=K, row="M50",
    errors=(
        e.PasskeysOff, e.PasskeyMisconfigured, e.NoPasskey, e.PasskeyNeedsEmail, e.UnknownAccount, e.EmailUnverified, e.MailLimitReached,
        e.VerificationUrlRefused, e.TooManyRequests,
    ),
    summary="Start signing in with a passkey of one account.",
)  # fmt: skip
finish_sign_in = operation(
    "passkeys.finish_sign_in", f"POST {_A}/login/passkey/finish", SignInFinish, FactorLogin, auth=K, row="M51",
    errors=(*SHOWN, e.NoPasskey, e.PasskeyNeedsEmail, *ENTERING, e.TooManyRequests),
    summary="Sign in with a passkey; one that verified its user counts as two factors.",
)  # fmt: skip
begin_autofill = operation(
    "passkeys.begin_autofill", f"GET {_A}/login/passkey/autofill/begin", AutofillBegin, LoginBegin, auth=K, row="M52",
    errors=(e.PasskeysOff, e.PasskeyAutofillOff, e.PasskeyMisconfigured, e.TooManyRequests),
    summary="Start signing in with any passkey that the browser offers (conditional mediation).",
)  # fmt: skip
finish_autofill = operation(
    "passkeys.finish_autofill", f"POST {_A}/login/passkey/autofill/finish", SignInFinish, FactorLogin, auth=K, row="M53",
    errors=(*SHOWN, e.PasskeyAutofillOff, e.NoPasskey, *ENTERING, e.TooManyRequests),
    summary="Sign in with the passkey that was chosen; its user handle names the account.",
)  # fmt: skip
forgot = operation(
    "passkeys.forgot", f"POST {_A}/passkey/forgot", Forgot, Posted, auth=K, row="M54",
    errors=(
        e.PasskeysOff, e.NoPasskey, e.PasskeyUrlRefused, e.UnknownAccount, e.MalformedEmail, e.AccountBlocked, e.MailLimitReached,
        e.TooManyRequests, *CAPTCHA,
    ),
    summary="Email a link that replaces lost passkeys.",
)  # fmt: skip
begin_reset = operation(
    "passkeys.begin_reset", f"GET {_A}/passkey/reset/begin", ResetBegin, RegisterBegin, auth=K, row="M55",
    errors=(e.PasskeysOff, e.PasskeyMisconfigured, *LINK, e.AccountBlocked, e.TooManyRequests),
    summary="Start replacing lost passkeys with an emailed link, which stays unused.",
)  # fmt: skip
finish_reset = operation(
    "passkeys.finish_reset", f"POST {_A}/passkey/reset/finish", ResetFinish, Posted, auth=K, row="M56",
    errors=(*SHOWN, *LINK, e.AccountBlocked, e.TooManyRequests),
    summary="Replace every passkey of the account with a new one, with an emailed link.",
)  # fmt: skip
