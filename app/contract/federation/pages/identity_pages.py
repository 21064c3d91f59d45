"""Operations for the page of linked identities."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.page_models import NoParameters
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.contract.tenants.tenant_pages import ConnectionView
from app.kit.operations.wire import Wire

Name = Annotated[str, Field(max_length=60)]
Id = Annotated[str, Field(max_length=64)]


Lacking = Literal["password", "username", "phone", "email", "connection"]
"""What an account needs before its last identity can be unlinked; connection: its organization requires the identity's."""


class LinkedIdentityView(Wire):
    """A linked identity; `id` is ours, not the provider's."""

    id: str
    provider: str
    title: str
    mark: str = ""  # as in ConnectionView
    email: str = ""
    name: str = ""
    since: str | None = None
    used_at: str | None = None
    lacking: Lacking | None = None  # the account has no other sign-in method, and needs this for one


Shared = Literal["email", "name", "picture", "details", "access"]
"""What a provider tells about a person; access: its profile can be read again later."""


class LinkableConnection(ConnectionView):
    """A connection for a further identity."""

    shared: list[Shared] = Field(default_factory=list)


class OwnIdentities(AccountView):
    identities: list[LinkedIdentityView] = Field(default_factory=list)
    connections: list[LinkableConnection] = Field(default_factory=list)


class LinkIdentityRequest(Wire):
    provider: Name


class UnlinkIdentityRequest(Wire):
    id: Id


read = hub_operation(
    "hub.read_own_identities", "GET /hub/own/identities", NoParameters, OwnIdentities, errors=(errors.NotAuthenticated,),
    summary="Read the identities that are linked to the account's account.",
)  # fmt: skip
connect = hub_operation(
    "hub.connect_identity", "POST /hub/own/identities", LinkIdentityRequest, StepResponse, reauthentication=True,
    errors=(errors.AccountLinkingOff, errors.UnknownConnection, errors.ConnectionNotConfigured),
    summary="Start linking an identity: returns the provider's address and the interaction of its response.",
)  # fmt: skip
disconnect = hub_operation(
    "hub.disconnect_identity", "POST /hub/own/identities/remove", UnlinkIdentityRequest, Posted, reauthentication=True,
    errors=(errors.UnknownIdentity, errors.NothingToUnlink),
    summary="Unlink an identity, unless it is the account's last sign-in method.",
)  # fmt: skip
