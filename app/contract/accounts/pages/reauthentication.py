"""Operations that authenticate the account again; without a recent authentication, sensitive changes are refused (967)."""

from pydantic import Field

from app.contract import errors as e
from app.contract.accounts.models import PersonView
from app.contract.catalogue import HASHES, hub_operation
from app.contract.error_groups import REAUTHENTICATION
from app.contract.sessions.models import Session
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class OfAccount(Wire):
    """What a page of the signed-in account shows."""

    person: PersonView


class AccountView(OfAccount):
    """What a page that can change the account shows, and whether the visitor must reauthenticate first."""

    needs_password: bool = False  # the last authentication is too old for sensitive changes
    must_confirm: bool = False  # as `needs_password`, but the password alone is not sufficient


class WithPassword(Wire):
    """`password`: for reauthentication."""

    password: str | None = Field(default=None, max_length=1024)


class SessionRenewal(Wire):
    """`session` after a reauthentication: the same session under a new cookie."""

    session: Session | None = None


class ReauthenticationRequest(Wire):
    """`landing`: the path on this host that follows."""

    landing: str = Field(pattern=r"^/[a-z][a-z/-]*(\?(kind|id|provider)=[A-Za-z0-9_-]{1,64})?$", max_length=100)
    interaction_id: str | None = (
        None  # the interaction of an application that requires a second factor; it continues instead
    )


class ReauthenticationStep(Wire):
    """`next`: the second factor's page; else whether the password or a new sign-in is required."""

    next: StepResponse | None = None
    person: PersonView
    is_needed: bool = True
    has_password: bool = True


begin_reauthentication = hub_operation(
    "hub.begin_reauthentication", "POST /hub/own/confirm", ReauthenticationRequest, ReauthenticationStep, errors=(e.NotAuthenticated,),
    summary="Start a reauthentication; sends nothing.",
)  # fmt: skip


reauthenticate = hub_operation(
    "hub.reauthenticate", "POST /hub/own/confirm/password", WithPassword, SessionRenewal, hashing=HASHES, errors=REAUTHENTICATION,
    summary="Reauthenticate with the password, if the account has no second factor.",
)  # fmt: skip
