"""Reads the metadata of a SAML identity provider (SAML V2.0 Metadata, section 2.4.3). The document is untrusted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any, Final

_METADATA: Final = "urn:oasis:names:tc:SAML:2.0:metadata"
_SIGNATURE: Final = "http://www.w3.org/2000/09/xmldsig#"
_REDIRECT: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}\Z")


class WrongMetadata(Exception):
    """The document is no metadata of an identity provider."""


@dataclass
class SamlMetadata:
    """What an identity provider states about itself."""

    entity_id: str = ""
    certificate: str = ""  # the first one for signatures, in PEM
    sign_in_url: str = ""  # for requests by redirect, if it takes them; otherwise the first
    _text: list[str] = field(default_factory=list, repr=False)
    _is_provider: bool = field(default=False, repr=False)
    _is_signing: bool = field(default=True, repr=False)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element."""
        self._text.clear()
        if name == f"{_METADATA} EntityDescriptor":
            self.entity_id = self.entity_id or attributes.get("entityID", "")
        elif name == f"{_METADATA} IDPSSODescriptor":
            self._is_provider = True
        elif name == f"{_METADATA} KeyDescriptor":
            self._is_signing = attributes.get("use", "signing") == "signing"
        elif name == f"{_METADATA} SingleSignOnService" and self._is_provider:
            location, is_redirect = attributes.get("Location", ""), attributes.get("Binding") == _REDIRECT
            self.sign_in_url = location if is_redirect or not self.sign_in_url else self.sign_in_url

    def text(self, part: str) -> None:
        """Take text within an element."""
        self._text.append(part)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        if name == f"{_METADATA} IDPSSODescriptor":
            self._is_provider = False
        elif (
            name == f"{_SIGNATURE} X509Certificate" and self._is_provider and self._is_signing and not self.certificate
        ):
            self.certificate = _pem("".join("".join(self._text).split()))


def read(content: bytes) -> SamlMetadata:
    """Return the metadata of the first identity provider. Raises WrongMetadata.

    Document type declarations are refused, so that no entity is expanded and no other document is read.
    """
    from xml.parsers import expat

    metadata = SamlMetadata()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = metadata.start
    parser.EndElementHandler = metadata.end
    parser.CharacterDataHandler = metadata.text
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError) as problem:
        raise WrongMetadata("no XML") from problem
    if not (metadata.entity_id and metadata.certificate and metadata.sign_in_url):
        raise WrongMetadata("no identity provider with a certificate and an address for sign-in")
    return metadata


def _refuse(*_: Any) -> None:
    raise WrongMetadata("a document type declaration")


def _pem(text: str) -> str:
    if not _BASE64.match(text):
        return ""
    return "\n".join(["-----BEGIN CERTIFICATE-----", *wrap(text, 64), "-----END CERTIFICATE-----", ""])
