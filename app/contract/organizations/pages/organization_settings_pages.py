"""Operations of the hub by which people run organizations: create one, change it, hand over its ownership, delete it."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.catalogue import hub_operation
from app.contract.images.errors import IMAGE_ERRORS
from app.contract.images.uploads import CONVERTS_IMAGE, MAX_IMAGE_BODY_BYTES, ORGANIZATION_LOGO, ImageContent
from app.contract.organizations.models import HexColor
from app.contract.organizations.organization_operations import Name
from app.contract.organizations.pages.account_organization_pages import Id, OwnOrganization
from app.contract.organizations.pages.member_pages import MemberView
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Wire

OrganizationPath = Annotated[str, From.PATH, Field(max_length=64)]


class CreateOwnOrganization(Wire):
    name: Name


class CreatedOrganization(Wire):
    id: str


class OrganizationSettingsRequest(Wire):
    organization: OrganizationPath


class OrganizationSettingsView(AccountView):
    """An organization as its owners change it. The numbers say what a deletion deletes."""

    organization: OwnOrganization
    name: str  # unique in the tenant
    display_name: str = ""  # empty: the name
    logo: str = ""
    color: str = ""
    domains: int = 0
    connections: int = 0
    invitations: int = 0  # open ones


class ChangeOrganizationSettings(Wire):
    """An empty `display_name` shows the name, an empty `color` the tenant's."""

    organization: Id
    name: Name
    display_name: Annotated[str, Field(max_length=100)] = ""
    color: HexColor | None = None


class SetOrganizationLogo(Wire):
    """An empty `logo` removes it: pages show the initials."""

    organization: Id
    logo: ImageContent = ""


class DeleteOwnOrganization(Wire):
    """`name`: the organization's name or display name, typed to confirm."""

    organization: Id
    name: Annotated[str, Field(max_length=100)]


class TransferRequest(Wire):
    organization: OrganizationPath
    uid: Annotated[str, From.PATH, Field(max_length=64)]


class TransferView(AccountView):
    """`roles_after`: the names of the account's roles if it steps down; empty: it leaves the organization."""

    organization: OwnOrganization
    member: MemberView
    roles_after: list[str] = Field(default_factory=list)


class TransferOwnership(Wire):
    """`steps_down`: the account is no owner afterwards; else both are."""

    organization: Id
    uid: Id
    steps_down: bool


_OWN = "/hub/own/organizations"
_ONE = f"{_OWN}/{{organization}}"
_CHANGES = (errors.UnknownOrganization, errors.OwnersOnly)

create = hub_operation(
    "hub.create_organization", f"POST {_OWN}", CreateOwnOrganization, CreatedOrganization,
    errors=(
        errors.NotAuthenticated, errors.BadField, errors.EmailUnverified, errors.OrganizationCreationOff, errors.OrganizationNameTaken,
        errors.OrganizationRoleTaken,
        errors.TooManyOrganizations,
    ),
    summary="Create an organization that the account owns.",
)  # fmt: skip
read = hub_operation(
    "hub.read_organization_settings", f"GET {_ONE}/settings", OrganizationSettingsRequest, OrganizationSettingsView,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization), summary="Read an organization that the account manages, to change it.",
)  # fmt: skip
change = hub_operation(
    "hub.change_organization", f"POST {_OWN}/settings", ChangeOrganizationSettings, Posted, reauthentication=True,
    errors=(*_CHANGES, errors.BadField, errors.OrganizationNameTaken),
    summary="Change the name, the display name and the color of an organization.",
)  # fmt: skip
set_logo = hub_operation(
    "hub.set_organization_logo", f"POST {ORGANIZATION_LOGO}", SetOrganizationLogo, Posted,
    errors=(*_CHANGES, errors.NotAuthenticated, *IMAGE_ERRORS.values(), errors.TooManyRequests),
    heavy_work=CONVERTS_IMAGE, max_body_bytes=MAX_IMAGE_BODY_BYTES,
    summary="Replace the logo of an organization by an uploaded image, or remove it.",
)  # fmt: skip
delete = hub_operation(
    "hub.delete_organization", f"POST {_OWN}/delete", DeleteOwnOrganization, Posted, reauthentication=True,
    errors=(*_CHANGES, errors.BadField), summary="Delete an organization that the account owns, with everything that belongs to it.",
)  # fmt: skip
read_transfer = hub_operation(
    "hub.read_organization_transfer", f"GET {_ONE}/transfer/{{uid}}", TransferRequest, TransferView,
    errors=(errors.NotAuthenticated, errors.UnknownOrganization, errors.OwnersOnly, errors.NotAMember),
    summary="Read what handing over the ownership to a member changes.",
)  # fmt: skip
transfer = hub_operation(
    "hub.transfer_ownership", f"POST {_OWN}/transfer", TransferOwnership, Posted, reauthentication=True,
    errors=(*_CHANGES, errors.NotAMember, errors.OwnerCannotSignIn), summary="Make a member an owner, and step down or stay one.",
)  # fmt: skip
