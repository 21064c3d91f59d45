"""What the hub asks for the page of linked identities: which there are, one more, one less."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.errors import federation as refusals
from app.contract.hashing import HASHES_SECRETS
from app.contract.hub import ConnectionView, Next, PersonView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.operations import hub_operation
from app.kit.wire import Wire

Name = Annotated[str, Field(max_length=60)]
Id = Annotated[str, Field(max_length=64)]


class OwnIdentitiesRequest(Wire):
    """Nothing: the session says whose."""


class LinkedIdentityView(Wire):
    """An account at another provider that opens this one; `id` names it here, not there."""

    id: str
    provider: str
    title: str
    email: str = ""
    name: str = ""
    since: str | None = None
    used_at: str | None = None
    is_last_way: bool = False  # nothing else would open the account


class OwnIdentities(Wire):
    person: PersonView
    identities: list[LinkedIdentityView] = Field(default_factory=list)
    connections: list[ConnectionView] = Field(default_factory=list)  # where one more may be linked
    needs_password: bool = False
    must_confirm: bool = False  # as `needs_password`, and the password is none or not enough


class LinkIdentityRequest(WithPassword):
    provider: Name


class UnlinkIdentityRequest(WithPassword):
    id: Id


read = hub_operation(
    "hub.own_identities", "GET /hub/own/identities", OwnIdentitiesRequest, OwnIdentities, errors=(e.NotAuthenticated,),
    summary="Read the identities that are linked to the signed-in person's account.",
)  # fmt: skip
connect = hub_operation(
    "hub.link_identity", "POST /hub/own/identities", LinkIdentityRequest, Next, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, refusals.AccountLinkingOff, refusals.UnknownConnection, refusals.ConnectionNotConfigured),
    summary="Begin to link an identity: answers the provider's address, and the attempt that its answer belongs to.",
)  # fmt: skip
disconnect = hub_operation(
    "hub.unlink_identity", "POST /hub/own/identities/remove", UnlinkIdentityRequest, SessionRenewal, hashing=HASHES_SECRETS,
    errors=(*REAUTHENTICATION, refusals.UnknownIdentity, refusals.NothingToUnlink),
    summary="Unlink an identity, unless nothing else opens the account.",
)  # fmt: skip
