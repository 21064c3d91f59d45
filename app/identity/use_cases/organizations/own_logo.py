"""An owner of an organization replaces and removes its logo."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.identity.directory import pictures
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import owned_organizations
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.platform.context import Context
from app.kit.images.image_format import LOGO
from app.kit.limits.rate_limits import Rate

_RATE: Final = Rate(20, 3600)


def change(context: Context, actor: Account, org_id: str, content: str) -> None:
    """Replace the logo by an uploaded file, in base64; an empty one removes it.

    Raises UnknownOrganization, OwnersOnly, TooManyRequests after 20 logos in an hour, and as `pictures.converted`.
    """
    if not content:
        owned_organizations.set_logo(context, actor, org_id, None)
        return
    if not managed_organization.load(context, actor, org_id).is_owner:
        raise errors.OwnersOnly
    context.count_against("organization_logo", _RATE, actor.uid)
    image = pictures.converted(context, content, LOGO)
    address = pictures.new_address(context, image)
    owned_organizations.set_logo(context, actor, org_id, address)
    pictures.add(context, address, image, org_id=org_id)
