"""Operations for the pages that enrol and remove second factors, for every authenticator."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import (
    FACTOR_ERRORS,
    FactorAnswer,
    FactorChoice,
    FactorPrompt,
)
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Wire


class EnrolledFactor(Wire):
    """A second factor of the account."""

    kind: FactorKind
    hint: str | None = None  # recipient of its codes, in full
    since: str | None = None
    used_at: str | None = None


class FactorsView(AccountView):
    """The enrolled and available second factors of an account."""

    enrolled: list[EnrolledFactor] = Field(default_factory=list)
    offered: list[FactorChoice] = Field(default_factory=list)
    backup_codes: int | None = None  # number of unused codes; None: backup codes are off
    has_passkeys: bool = False  # passkeys count as a second factor, and the account has one: sign-in asks for it first
    is_required: bool = False
    has_password: bool = True


class OwnFactorRequest(Wire):
    kind: Annotated[FactorKind, From.QUERY]


class OwnFactorView(AccountView):
    """The prompt to enrol a factor; None if it is enrolled, or if reauthentication is required first."""

    shown: FactorPrompt | None = None
    is_held: bool = False
    has_password: bool = True


class OwnFactorRefusal(Wire):
    """`Data` of an error: the page, so that the hub renders it again without another call."""

    view: OwnFactorView | None = None


class EnrolFactorRequest(Wire):
    """`target`: the number or the address for codes."""

    kind: FactorKind
    target: str | None = Field(default=None, max_length=320)


class EnrolmentStarted(Wire):
    """`address`: redirect to it, for a factor with a provider."""

    address: str | None = None


class FactorEnrolled(Wire):
    """`wants_codes`: the account has no backup codes yet."""

    wants_codes: bool = False


class RemoveFactorRequest(Wire):
    kind: FactorKind


read = hub_operation(
    "hub.read_own_factors", "GET /hub/own/factors", NoParameters, FactorsView, errors=(errors.NotAuthenticated, errors.TwoFactorOff),
    summary="List the account's second factors.",
)  # fmt: skip
read_one = hub_operation(
    "hub.read_own_factor", "GET /hub/own/factor", OwnFactorRequest, OwnFactorView,
    errors=(*FACTOR_ERRORS, errors.NotAuthenticated, errors.TwoFactorOff),
    summary="Read the prompt that enrols a second factor.",
)  # fmt: skip
begin = hub_operation(
    "hub.begin_factor", "POST /hub/own/factors/begin", EnrolFactorRequest, EnrolmentStarted, reauthentication=True,
    errors=(*FACTOR_ERRORS, errors.TwoFactorOff),
    summary="Start enrolling a second factor, and send its code if there is one. `Data` of an error is an `OwnFactorRefusal`.",
)  # fmt: skip
add = hub_operation(
    "hub.add_factor", "POST /hub/own/factors", FactorAnswer, FactorEnrolled, reauthentication=True,
    errors=(*FACTOR_ERRORS, errors.TwoFactorOff),
    summary="Enrol a second factor with its first verification. `Data` of an error is an `OwnFactorRefusal`.",
)  # fmt: skip
remove = hub_operation(
    "hub.remove_factor", "POST /hub/own/factors/remove", RemoveFactorRequest, Posted, reauthentication=True,
    summary="Remove a second factor; removing an absent one is no error.",
)  # fmt: skip
turn_off = hub_operation(
    "hub.turn_off_second_factors", "POST /hub/own/factors/off", NoParameters, Posted, reauthentication=True,
    errors=(errors.FactorRemovalRefused,),
    summary="Remove every second factor and the backup codes, unless the tenant or an organization requires a second factor.",
)  # fmt: skip
