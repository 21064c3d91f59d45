"""Decodes SAML messages from forms and addresses (SAML V2.0 Bindings, sections 3.4 and 3.5) within limits."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote_plus

from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml.xml_documents import MESSAGE_LIMITS

MAX_ENCODED_LENGTH: Final = 256 << 10
"""Of a message in base64, in characters."""
_MAX_RELAY_STATE_LENGTH: Final = 2_048
_MAX_SIGNATURE_LENGTH: Final = 2_000
_DEFLATE: Final = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE"
_NAMES: Final = ("SAMLRequest", "SAMLResponse", "RelayState", "SigAlg", "Signature", "SAMLEncoding")
_LINE_BREAKS: Final = str.maketrans("", "", " \t\r\n")
_ESCAPES: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class SignedQuery:
    """The signature of a message in an address: it covers the query as it was received, not the message."""

    content: bytes
    signature: bytes
    algorithm: str

    def verify(self, keys: TrustedKeys, now: datetime) -> str:
        """Return the certificate, in PEM, whose key signed the query. Raises SamlRefusal."""
        return keys.verify_raw(self.content, self.signature, self.algorithm, now)


@dataclass(frozen=True)
class SamlEnvelope:
    """A decoded message, of which nothing is verified."""

    name: str
    """SAMLRequest or SAMLResponse."""
    content: bytes
    relay_state: str = ""
    is_redirect: bool = False
    query_signature: SignedQuery | None = None


def posted(name: str, messages: Sequence[str], relay_states: Sequence[str] = ()) -> SamlEnvelope:
    """Return the message of a form.

    Args:
        name: SAMLRequest or SAMLResponse.
        messages: all values of the parameter with this name.
        relay_states: all values of RelayState.
    """
    message = _only(name, messages)
    relay_state = _only("RelayState", relay_states) if relay_states else ""
    return SamlEnvelope(name, _decoded(name, message), _relay_state(relay_state))


def redirected(name: str, query: str) -> SamlEnvelope:
    """Return the message of a query, which must be as received: nothing in it decoded or put in order.

    Args:
        name: the parameter that this address takes, SAMLRequest or SAMLResponse; the other one is refused.
    """
    if len(query) > MAX_ENCODED_LENGTH:
        raise SamlRefusal(SamlRule.SIZE, "The query is too long.", expected=f"{MAX_ENCODED_LENGTH} characters")
    raw = _raw_parameters(query)
    wrong = {"SAMLRequest", "SAMLResponse"} - {name}
    if name not in raw or wrong & raw.keys():
        raise SamlRefusal(SamlRule.SIZE, "The query doesn’t have the message alone.", expected=f"{name} once")
    values = {key: _unquoted(key, value) for key, value in raw.items()}
    if values.get("SAMLEncoding", _DEFLATE) != _DEFLATE:
        raise SamlRefusal(SamlRule.SIZE, "The message has another encoding.", expected=_DEFLATE)
    content = _inflated(_decoded(name, values[name]))
    relay_state = _relay_state(values.get("RelayState", ""))
    return SamlEnvelope(
        name, content, relay_state, is_redirect=True, query_signature=_query_signature(name, raw, values)
    )


def _raw_parameters(query: str) -> dict[str, str]:
    """Return the parameters of SAML as received. Others, which the address may have of its own, are left out."""
    raw: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        plain = unquote_plus(name, errors="replace")
        if plain not in _NAMES:
            continue
        if name != plain or plain in raw:
            raise SamlRefusal(
                SamlRule.SIZE,
                "A parameter occurs twice, or its name is escaped.",
                expected=f"{plain} once",
                received=name,
            )
        raw[plain] = value
    return raw


def _unquoted(name: str, value: str) -> str:
    if _ESCAPES.search(value) or not value.isascii():
        raise SamlRefusal(SamlRule.SIZE, "A parameter isn’t percent-encoded.", received=name)
    try:
        return unquote_plus(value, errors="strict")
    except UnicodeDecodeError:
        raise SamlRefusal(SamlRule.SIZE, "A parameter isn’t UTF-8.", received=name) from None


def _query_signature(name: str, raw: dict[str, str], values: dict[str, str]) -> SignedQuery | None:
    """Return the signature over the parameters in the order of the specification (Bindings, section 3.4.4.1)."""
    if "Signature" not in raw and "SigAlg" not in raw:
        return None
    if not (values.get("Signature") and values.get("SigAlg")):
        raise SamlRefusal(SamlRule.SIGNATURE_FORM, "The query has half a signature.", expected="SigAlg and Signature")
    signed = [f"{key}={raw[key]}" for key in (name, "RelayState", "SigAlg") if key in raw]
    signature = _base64("Signature", values["Signature"], _MAX_SIGNATURE_LENGTH)
    return SignedQuery("&".join(signed).encode(), signature, values["SigAlg"])


def _only(name: str, values: Sequence[str]) -> str:
    if len(values) != 1:
        raise SamlRefusal(
            SamlRule.SIZE, "A parameter must occur once.", expected=f"{name} once", received=f"{len(values)} times"
        )
    return values[0]


def _decoded(name: str, value: str) -> bytes:
    return _base64(name, value, MAX_ENCODED_LENGTH)


def _base64(name: str, value: str, max_length: int) -> bytes:
    if len(value) > max_length:
        raise SamlRefusal(
            SamlRule.SIZE,
            "A parameter is too long.",
            expected=f"{max_length} characters",
            received=f"{len(value)} characters",
        )
    try:
        return base64.b64decode(value.translate(_LINE_BREAKS), validate=True)
    except (binascii.Error, ValueError):
        raise SamlRefusal(SamlRule.SIZE, "A parameter isn’t base64.", received=name) from None


def _inflated(content: bytes) -> bytes:
    """Return the content of a raw DEFLATE stream, which must end with the bytes."""
    most = MESSAGE_LIMITS.size_bytes
    stream = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        inflated = stream.decompress(content, most + 1)
    except zlib.error:
        raise SamlRefusal(SamlRule.SIZE, "The message isn’t a DEFLATE stream.") from None
    if len(inflated) > most:
        raise SamlRefusal(SamlRule.SIZE, "The inflated message is too long.", expected=f"{most} bytes")
    if not stream.eof or stream.unused_data:
        raise SamlRefusal(SamlRule.SIZE, "The DEFLATE stream doesn’t end with the message.")
    return inflated


def _relay_state(value: str) -> str:
    if len(value) > _MAX_RELAY_STATE_LENGTH or not value.isprintable():
        raise SamlRefusal(
            SamlRule.SIZE,
            "RelayState is too long or has control characters.",
            expected=f"{_MAX_RELAY_STATE_LENGTH} characters",
        )
    return value
