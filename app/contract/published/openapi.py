"""The OpenAPI document of the public operations."""

from collections.abc import Mapping
from typing import Any

from app import __version__
from app.contract.auth import Host
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.published.examples import load_examples
from app.contract.published.introduction import publication
from app.kit.openapi.document import document
from app.kit.openapi.examples import add_examples
from app.kit.text.typography import with_typographic_descriptions


def openapi_document(
    api_url: str, tenant_url: str, examples: Mapping[str, Mapping[str, Any]] | None = None
) -> dict[str, Any]:
    """Return the OpenAPI document.

    Args:
        tenant_url: the address of a tenant's host, with `{tenant}` for its name.
        examples: the examples by operation; by default those that `load_examples` returns.
    """
    tenant_server = {
        "url": tenant_url,
        "description": "A tenant’s host, or its custom domain.",
        "variables": {"tenant": {"default": "acme", "description": "The tenant’s name."}},
    }
    api_document = document(load_catalogue(), api_url, {Host.TENANT: tenant_server}, publication(__version__))
    add_examples(api_document, CATALOGUE, load_examples() if examples is None else examples)
    published: dict[str, Any] = with_typographic_descriptions(api_document)
    return published
