"""What the hub asks when signed-in people add and remove second factors: one set of operations for every authenticator."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import PersonView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.hub_second_factors import FACTOR_ERRORS, FactorAnswer, FactorChoice, FactorPrompt
from app.contract.operations import hub_operation
from app.contract.second_factors.challenge import FactorKind
from app.kit.wire import From, Wire


class EnrolledFactor(Wire):
    """A second factor of the account."""

    kind: FactorKind
    hint: str | None = None  # where its codes go, masked
    since: str | None = None
    used_at: str | None = None


class FactorsView(Wire):
    """The second factors of an account, and those that it could have."""

    person: PersonView
    held: list[EnrolledFactor] = Field(default_factory=list)
    offered: list[FactorChoice] = Field(default_factory=list)
    backup_codes: int | None = None  # how many are left; None: the tenant has none
    is_required: bool = False
    has_password: bool = True
    must_confirm: bool = False  # as `needs_password`, and the password is none or not enough
    needs_password: bool = False  # the last proof is too old for a change


class OwnFactorsRequest(Wire):
    """Nothing: the session says whose."""


class OwnFactorRequest(Wire):
    kind: Annotated[FactorKind, From.QUERY]


class OwnFactorView(Wire):
    """What it takes to add one; nothing where it is there already, or where a proof is asked for first."""

    person: PersonView
    shown: FactorPrompt | None = None
    is_held: bool = False
    has_password: bool = True
    must_confirm: bool = False  # as `needs_password`, and the password is none or not enough
    needs_password: bool = False


class EnrolFactorRequest(WithPassword):
    """`target`: the number or the address of one whose codes are sent."""

    kind: FactorKind
    target: str | None = Field(default=None, max_length=320)


class EnrolmentStarted(SessionRenewal):
    """`address`: where the browser is led, for one that is proved elsewhere."""

    address: str | None = None


class FactorEnrolled(Wire):
    """`wants_codes`: there are no backup codes yet."""

    wants_codes: bool = False


class RemoveFactorRequest(WithPassword):
    kind: FactorKind


read = hub_operation(
    "hub.own_factors", "GET /hub/own/factors", OwnFactorsRequest, FactorsView, errors=(e.NotAuthenticated, e.TwoFactorOff),
    summary="List the signed-in person's second factors.",
)  # fmt: skip
read_one = hub_operation(
    "hub.own_factor", "GET /hub/own/factor", OwnFactorRequest, OwnFactorView, errors=(*FACTOR_ERRORS, e.NotAuthenticated, e.TwoFactorOff),
    summary="Read what it takes to add a second factor.",
)  # fmt: skip
begin = hub_operation(
    "hub.begin_factor", "POST /hub/own/factors/begin", EnrolFactorRequest, EnrolmentStarted, hashing=HASHES_SECRETS,
    errors=(*FACTOR_ERRORS, *REAUTHENTICATION, e.TwoFactorOff),
    summary="Begin to add a second factor: what must be sent is sent. A refusal bears `OwnFactorView` as its data.",
)  # fmt: skip
add = hub_operation(
    "hub.add_factor", "POST /hub/own/factors", FactorAnswer, FactorEnrolled, hashing=HASHES_SECRETS,
    errors=(*FACTOR_ERRORS, *REAUTHENTICATION, e.TwoFactorOff),
    summary="Add a second factor by its first proof. A refusal bears `OwnFactorView` as its data.",
)  # fmt: skip
remove = hub_operation(
    "hub.remove_factor", "POST /hub/own/factors/remove", RemoveFactorRequest, SessionRenewal, hashing=HASHES_SECRETS,
    errors=REAUTHENTICATION, summary="Remove a second factor; one that is gone is no error.",
)  # fmt: skip
