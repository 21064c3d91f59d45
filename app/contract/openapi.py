"""The OpenAPI document of the public operations."""

import importlib
import pkgutil
from typing import Any

from app import contract
from app.contract.auth import Host
from app.contract.operations import CATALOGUE
from app.kit.openapi import document
from app.kit.operation import Catalogue


def load_catalogue() -> Catalogue:
    """Return the catalogue with every operation: each module declares its own when it is imported."""
    for module in pkgutil.walk_packages(contract.__path__, f"{contract.__name__}."):
        importlib.import_module(module.name)
    return CATALOGUE


def openapi_document(api_url: str, tenant_url: str) -> dict[str, Any]:
    """Return the document; `tenant_url` is the address of a tenant's host, with `{tenant}` for its name."""
    tenant_server = {"url": tenant_url, "variables": {"tenant": {"default": "acme"}}}
    return document(load_catalogue(), api_url, {Host.TENANT: tenant_server})
