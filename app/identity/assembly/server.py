"""Builds the server of all operations; their handlers are imported after the first page (decision 0366)."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from typing import Final

from app.contract.auth import Host
from app.contract.catalogue import CATALOGUE
from app.contract.resources import import_contract
from app.contract.tenants import tenant_pages
from app.identity.assembly.admission import tenant_resolution
from app.identity.assembly.admission.lifecycle import IdentityLifecycle
from app.identity.pages_api import tenant_view  # noqa: F401 - registers the handlers of the early operations
from app.identity.platform.services import IdentityServices
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.server import OperationServer

EARLY: Final = frozenset({tenant_pages.tenant.name, tenant_pages.changed_tenants.name})
"""The operations of any first page and of the hub's own polling; their handlers read tenants and call no hook of another area."""

_LATE: Final = "app.identity.protocols.saml."
"""Before the names of modules that implement no operation and load lxml and signxml: the first SAML request imports them."""


def load_handlers() -> None:
    """Import every module that implements operations or admits callers, and connect the extension points between packages."""
    from app.identity import pages_api, protocols, public_api  # noqa: PLC0415 - decision 0366
    from app.identity.administration import theme_versions, webhooks  # noqa: PLC0415 - decision 0366
    from app.identity.administration.resource_operations import (  # noqa: PLC0415 - decision 0366
        resource_handlers,  # noqa: F401 - registers those of declared resources
    )
    from app.identity.administration.theme_files import put_file  # noqa: F401, PLC0415 - as above
    from app.identity.assembly import (  # noqa: PLC0415 - decision 0366
        extension_points,
        table_modules,  # noqa: F401 - deletions need every table
    )
    from app.identity.assembly.admission import (  # noqa: PLC0415 - decision 0366
        program_credentials,  # noqa: F401 - else the first request of a program would wait for it
    )

    for package in (pages_api, public_api, protocols, theme_versions, webhooks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(_LATE):
                import_module(module.name)
    extension_points.connect()


def make_server(services: IdentityServices) -> OperationServer:
    """Return the server of all operations; `load`, or the first operation that is not early, imports the handlers."""

    def host_of(raw: RawRequest) -> Host:
        return tenant_resolution.host_of(services.settings, raw.host, is_inside=raw.is_inside)

    import_contract()
    return OperationServer(CATALOGUE, IdentityLifecycle(services), host_of, load_handlers, EARLY)
