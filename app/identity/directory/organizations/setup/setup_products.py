"""Products of identity providers in the set-up guide: a file of data for each in `products/`, in the order of the guide.

A file has the words of the product's own menus and fields, the values to paste there, and what to paste back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent / "products"
OPENID, SAML = "openid", "saml"


@dataclass(frozen=True)
class ProductStep:
    """One thing to do in the product.

    Attributes:
        words: of the product: a path of menus, a field and its option, a field, a button.
        value: the name of what to paste (`redirect_uri`, `acs`, `entity_id`, …), an address to visit, or an attribute's value.
    """

    do: str
    words: tuple[str, ...]
    value: str = ""


@dataclass(frozen=True)
class ProductField:
    """A value to paste back.

    Attributes:
        label: what the product calls it; empty for the general name.
        pattern: a regular expression that a short form of it matches, such as a directory's ID.
        template: the whole value of a short form, which stands for `{}`.
    """

    name: str
    label: str = ""
    example: str = ""
    pattern: str = ""
    template: str = ""

    def whole_value(self, typed: str) -> str | None:
        """Return the whole value of what was typed; None if it is neither a short form nor an address."""
        text = typed.strip()
        if not self.template:
            return text
        short = text.removeprefix("https://").rstrip("/") if self.template.startswith("https://{}") else text
        if re.fullmatch(self.pattern, short):
            return self.template.replace("{}", short)
        return text if text.startswith(("https://", "http://")) else None


@dataclass(frozen=True)
class ProductProtocol:
    """How to set up a product by one protocol. `settings`: members of the connection that all its customers share."""

    steps: tuple[ProductStep, ...]
    fields: tuple[ProductField, ...]
    attributes: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Product:
    """A product; its protocols, the recommended one first. A generic one is any provider of its protocol."""

    name: str
    title: str
    is_generic: bool
    saml_type: str
    protocols: Mapping[str, ProductProtocol]

    def connection_type(self, protocol: str) -> str:
        """Return the interface's type of a connection to it."""
        return self.saml_type if protocol == SAML else "oidc_custom"


@cache
def products() -> Mapping[str, Product]:
    """Return the products by name, in the order of the guide."""
    found = [_read(path) for path in sorted(_FOLDER.glob("*.toml"))]
    return MappingProxyType({product.name: product for product in found})


def _read(path: Path) -> Product:
    import tomllib  # noqa: PLC0415 - few processes show the guide

    data = tomllib.loads(path.read_text(encoding="utf-8"))
    protocols = {name: _protocol(data[name]) for name in (OPENID, SAML) if name in data}
    name, is_generic = path.stem.partition("-")[2], data.get("is_generic", False)
    return Product(name, data["title"], is_generic, data["connection_type"], MappingProxyType(protocols))


def _protocol(data: Mapping[str, Any]) -> ProductProtocol:
    steps = tuple(ProductStep(item["do"], tuple(item["words"]), item.get("value", "")) for item in data["steps"])
    fields = tuple(ProductField(**item) for item in data["fields"])
    return ProductProtocol(steps, fields, data.get("attributes", {}), data.get("settings", {}))
