"""Builds the elements of SAML messages, their IDs and instants."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from lxml import etree

from app.identity.platform.saml.saml_names import ALGORITHMS, ASSERTION, ENCRYPTION, METADATA, PROTOCOL, SIGNATURE, saml
from app.kit import randomness

if TYPE_CHECKING:
    from lxml.etree import _Element

_ID_BYTES: Final = 20
_NAMESPACES: Final[dict[str, str]] = {
    "saml": ASSERTION,
    "samlp": PROTOCOL,
    "md": METADATA,
    "alg": ALGORITHMS,
    "ds": SIGNATURE,
    "xenc": ENCRYPTION,
}
_PREFIXES: Final = {namespace: prefix for prefix, namespace in _NAMESPACES.items()}


def new_id() -> str:
    """Return an unguessable ID of a message or an assertion (saml-core-2.0 section 1.3.4)."""
    return f"_{randomness.random_bytes(_ID_BYTES).hex()}"


def instant_text(at: datetime) -> str:
    """Return an instant as SAML writes it: in UTC, without fractions (saml-core-2.0 section 1.3.3)."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def element(tag: str, *children: _Element, text: str | None = None, **attributes: str | None) -> _Element:
    """Return an element with these children. An attribute without a value is left out.

    Raises:
        ValueError: a text or a value has a character that XML does not have.
    """
    namespace = tag[1 : tag.index("}")]
    made = etree.Element(tag, nsmap={_PREFIXES[namespace]: namespace})
    for name, value in attributes.items():
        if value is not None:
            made.set(name, value)
    made.text = text
    made.extend(children)
    return made


def issuer(entity_id: str) -> _Element:
    return element(saml("Issuer"), text=entity_id)


def to_bytes(root: _Element) -> bytes:
    """Return a document in UTF-8, without an XML declaration."""
    return etree.tostring(root, encoding="UTF-8", xml_declaration=False)
