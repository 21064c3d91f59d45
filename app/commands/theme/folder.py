"""Reads a theme folder for a command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.commands.errors import CommandError, as_command_errors
from app.commands.prompts import counted

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand
    from app.hub.tenants.tenant import HubTenant
    from app.identity.administration.configuration.file.theme.read_folder import ThemeFolder


def read_theme(folder: Path) -> ThemeFolder:
    """Return what a theme folder has. Raises CommandError with every problem of its files."""
    from app.identity.administration.configuration.file.theme import read_folder
    from app.identity.administration.configuration.file.yaml_document import ConfigurationError

    if not folder.is_dir():
        raise CommandError(f"There's no folder {folder}.")
    try:
        with as_command_errors():
            return read_folder.folder_of(folder)
    except ConfigurationError as found:
        raise CommandError(f"Found {counted(len(found.problems), 'problem')}:\n{found}") from None


def as_tenant(brand: Brand, name: str) -> HubTenant:
    """Return a tenant with the brand, as the hub has it."""
    from app.contract.tenants.tenant_pages import BrandView, TenantView
    from app.hub.tenants.tenant import tenant_from_view

    view = BrandView(**brand.model_dump(exclude={"display_name"}))
    shown = brand.display_name or name.replace("-", " ").title()
    return tenant_from_view(TenantView(name=name, display_name=shown, version="", brand=view))
