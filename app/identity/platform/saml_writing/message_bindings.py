"""Carries messages in addresses and forms (SAML V2.0 Bindings, sections 3.4 and 3.5)."""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

from app.identity.platform.saml.saml_names import samlp
from app.identity.platform.saml_writing.xml_builder import to_bytes
from app.identity.platform.saml_writing.xml_signing import SigningKey, signed

if TYPE_CHECKING:
    from lxml.etree import _Element

_RESPONSES = frozenset({samlp("Response"), samlp("LogoutResponse")})


def redirect_url(message: _Element, destination: str, key: SigningKey | None, relay_state: str = "") -> str:
    """Return the address that carries an unsigned message; with a key, the query is signed as it is sent (section 3.4.4.1)."""
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    deflated = deflater.compress(to_bytes(message)) + deflater.flush()
    query = f"{parameter_of(message)}={quote_plus(base64.b64encode(deflated))}"
    if relay_state:
        query += f"&RelayState={quote_plus(relay_state)}"
    if key is not None:
        query += f"&SigAlg={quote_plus(key.method.value)}"
        query += f"&Signature={quote_plus(base64.b64encode(key.sign_raw(query.encode())))}"
    return f"{destination}{'&' if '?' in destination else '?'}{query}"


def posted_fields(message: _Element, key: SigningKey | None, relay_state: str = "") -> dict[str, str]:
    """Return the fields of the form that carries an unsigned message; with a key, the message is signed."""
    content = to_bytes(message if key is None else signed(message, key))
    return form_fields(parameter_of(message), content, relay_state)


def form_fields(parameter: str, content: bytes, relay_state: str = "") -> dict[str, str]:
    """Return the fields of the form that carries a written message."""
    fields = {parameter: base64.b64encode(content).decode()}
    return {**fields, "RelayState": relay_state} if relay_state else fields


def parameter_of(message: _Element) -> str:
    return "SAMLResponse" if message.tag in _RESPONSES else "SAMLRequest"
