"""Duo as a second factor."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, MACHINE_TOKEN
from app.contract.catalogue import operation
from app.contract.error_groups import LOCK_CHALLENGES, UID_ERRORS
from app.contract.profile import Profile
from app.contract.second_factors.account_factor_operations import WRITE, ManagedFactor
from app.contract.second_factors.challenge import TOKEN_ERRORS, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.contract.shared_parameters import AccessTokenQuery, FieldSelection
from app.contract.shared_responses import Deleted
from app.kit.operations.wire import Lower

_AUTH = "/identity/v2/auth"
_LOGIN, _OWN, _MANAGED = f"{_AUTH}/login/2fa", f"{_AUTH}/account/2fa", "/identity/v2/manage/account/2fa"
DuoState = Annotated[str, Field(max_length=500)]
DuoCode = Annotated[str, Field(max_length=1_000)]


class DuoCallback(Lower):
    """Duo's redirect parameters."""

    state: DuoState
    code: DuoCode


class DuoVerification(ChallengeAnswer, DuoCallback):
    """Duo's redirect parameters."""


class OwnDuo(AccessTokenQuery, FieldSelection, DuoCallback):
    pass


DUO_ERRORS = (errors.DuoOff, errors.DuoMisconfigured, errors.DuoFailed, errors.WrongDuoState, errors.DuoNotEnrolled)

with_duo = operation(
    "second_factors.with_duo", f"PUT {_LOGIN}/duo", DuoVerification, FactorLogin, auth=API_KEY,
    also=(f"{_LOGIN}/verification/duo",), row="M12", errors=(*TOKEN_ERRORS, *DUO_ERRORS),
    summary="Answer with Duo",
    description="Answers a challenge with `state` and `code` that Duo appended to your return address, and returns the session. The "
    "first result also sets Duo up.",
)  # fmt: skip
prove_duo = operation(
    "second_factors.prove_duo", f"PUT {_OWN}/duo", OwnDuo, Profile, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/verification/duo",), row="M26", errors=(*DUO_ERRORS, *LOCK_CHALLENGES, errors.TwoFactorOff),
    summary="Set up Duo",
    description="Sets up Duo as a second factor with `state` and `code` of its first prompt. The prompt starts at the "
    "`DuoAuthEndpoint` that `GET /identity/v2/auth/account/2fa` returns.",
)  # fmt: skip
remove_duo = operation(
    "second_factors.remove_duo", f"DELETE {_OWN}/duo", AccessTokenQuery, Deleted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS,
    also=(f"{_OWN}/authenticator/duo",), row="M35", errors=(errors.DuoOff, errors.DuoNotEnrolled),
    summary="Remove Duo",
    description="Removes Duo from the second factors of the signed-in account.",
)  # fmt: skip
managed_remove_duo = operation(
    "second_factors.managed_remove_duo", f"DELETE {_MANAGED}/duo", ManagedFactor, Deleted,
    auth=API_KEY & API_SECRET | MACHINE_TOKEN, scope=WRITE,
    also=(f"{_MANAGED}/authenticator/duo",), row="M39", errors=(*UID_ERRORS, errors.DuoNotEnrolled),
    summary="Remove an account’s Duo factor",
    description="Removes Duo from the second factors of an account.",
)  # fmt: skip
