"""Reauthentication on pages: without a recent authentication, sensitive changes are refused (decision 0371)."""

from enum import StrEnum

from pydantic import Field

from app.contract import errors
from app.contract.accounts.models import PersonView
from app.contract.catalogue import hub_operation
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class OfAccount(Wire):
    """What a page of the signed-in account shows."""

    person: PersonView


class RequiredReauthentication(StrEnum):
    """The reauthentication that a sensitive change requires (decision 0094)."""

    NONE = "none"  # the last authentication is recent
    PASSWORD = "password"  # the password, sent with the change
    STRONGER = "stronger"  # a second factor or a new sign-in, before the change


class AccountView(OfAccount):
    """What a page that can change the account shows."""

    reauthentication: RequiredReauthentication = RequiredReauthentication.NONE


class ReauthenticationRequest(Wire):
    """`landing`: the path on this host that follows."""

    landing: str = Field(pattern=r"^/[a-z][a-z/-]*(\?(kind|id|provider)=[A-Za-z0-9_-]{1,64})?$", max_length=100)
    interaction_id: str | None = (
        None  # the interaction of an application that requires a second factor; it continues instead
    )


class ReauthenticationView(AccountView):
    """`next`: the second factor's page; without it, a stronger reauthentication than the password is a new sign-in."""

    next: StepResponse | None = None


begin_reauthentication = hub_operation(
    "hub.begin_reauthentication", "POST /hub/own/confirm", ReauthenticationRequest, ReauthenticationView, errors=(errors.NotAuthenticated,),
    summary="Start a reauthentication; sends nothing.",
)  # fmt: skip


reauthenticate = hub_operation(
    "hub.reauthenticate", "POST /hub/own/confirm/password", NoParameters, Posted, reauthentication=True,
    summary="Reauthenticate with the password, if the account has no second factor.",
)  # fmt: skip
