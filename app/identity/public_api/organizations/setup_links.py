"""The operations of set-up links. Their rules are imported with the first request: few tenants have any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import CreatedSetupLink, SetupLink, SetupLinkPath, SetupLinks
from app.identity.directory.organizations import organization_powers, organizations
from app.identity.platform.context import Context
from app.identity.platform.powers import require_powers
from app.identity.public_api.organizations.feature import requires_organizations
from app.kit.clock import iso

if TYPE_CHECKING:
    from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord


@setup_operations.list_all.implements
@requires_organizations
def list_all(context: Context, req: setup_operations.ListSetupLinks) -> SetupLinks:
    from app.identity.directory.organizations.setup import setup_link_store  # noqa: PLC0415 - few tenants have any

    org_id = organizations.require(context, req.org_id).org_id
    return SetupLinks(data=[_view(context, item) for item in setup_link_store.page(context, org_id, *req.window)])


@setup_operations.create.implements
@requires_organizations
def create(context: Context, req: setup_operations.CreateSetupLink) -> CreatedSetupLink:
    from app.identity.directory.organizations.setup import setup_links  # noqa: PLC0415 - few tenants have any

    require_powers(context, [organization_powers.CONNECTION])
    link, url = setup_links.create(context, req)
    return CreatedSetupLink(**_view(context, link).model_dump(), url=url)


@setup_operations.read.implements
@requires_organizations
def read(context: Context, req: SetupLinkPath) -> SetupLink:
    return _view(context, _found(context, req))


@setup_operations.revoke.implements
@requires_organizations
def revoke(context: Context, req: SetupLinkPath) -> SetupLink:
    from app.identity.directory.organizations.setup import setup_links  # noqa: PLC0415 - few tenants have any

    return _view(context, setup_links.revoke(context, _found(context, req)))


def _found(context: Context, req: SetupLinkPath) -> SetupLinkRecord:
    from app.identity.directory.organizations.setup import setup_links  # noqa: PLC0415 - few tenants have any

    return setup_links.require(context, organizations.require(context, req.org_id), req.link_id)


def _view(context: Context, link: SetupLinkRecord) -> SetupLink:
    return SetupLink(
        id=link.link_id,
        org_id=link.org_id,
        status=link.state(context.now),  # type: ignore[arg-type]  # the record returns only these
        openings=link.openings,
        max_openings=link.max_openings,
        session_hours=link.session_hours,
        jit_provisioning=link.joins,
        connection_id=link.connection_id,
        created_date=iso(link.created_at) or "",
        expiration_date=iso(link.ends_at) or "",
        last_opened_date=iso(link.opened_at),
    )
