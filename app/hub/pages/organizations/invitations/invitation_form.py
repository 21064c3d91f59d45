"""Shared code of the pages that invite people to an organization: addresses, read calls and the role field."""

from __future__ import annotations

from typing import Final, Self

from wtforms import HiddenField, SelectField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.contract.organizations.pages.member_pages import RoleView
from app.hub.forms.reauthentication import ReauthenticationForm
from app.hub.locale import lazy_gettext as _l
from app.hub.pages.organizations import managed_organization
from app.hub.pages.organizations.managed_organization import LIST
from app.hub.rendering.page import Notice

PATH: Final = f"{LIST}/invitations"

SAMPLE_ROLES: Final = [
    RoleView(id="a", name="Editor", description="Create and change plans."),
    RoleView(id="b", name="Manager", description="Invite and remove people, and change their roles."),
]

TOO_MANY: Final = Notice(_l("Too many invitations"), _l("Try again in an hour."))


class InvitingForm(ReauthenticationForm):
    """Gives people a role of the organization, by email or by link."""

    organization = HiddenField()
    role: SelectField  # stated by each form in its order of fields
    descriptions: tuple[str, ...] = ()
    """What each role may do, in the order of the choices."""
    refusals = dict.fromkeys((errors.MalformedRoleId, errors.RoleOfOtherOrganization), ("role", _l("Choose a role.")))

    def with_roles(self, roles: list[RoleView], default: str = "") -> Self:
        """Return the form with these roles to choose from; `default` is chosen first."""
        self.role.choices = [SelectChoice(role.id, role.name) for role in roles]
        self.descriptions = tuple(role.description for role in roles)
        if not self.role.data and any(item.id == default for item in roles):
            self.role.data = default
        return self


def read(organization: str, invitation: str = "") -> sent_invitation_pages.OrganizationInvitations:
    """Return what new invitations can give, and one open invitation, as `managed_organization.read`."""
    request = sent_invitation_pages.OrganizationInvitationsRequest(
        organization=organization or "-", invitation=invitation
    )
    return managed_organization.read(sent_invitation_pages.read, request)
