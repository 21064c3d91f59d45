"""Names of SAML V2.0, XML Signature and XML Encryption, as lxml writes them."""

from __future__ import annotations

from typing import Final

ASSERTION: Final = "urn:oasis:names:tc:SAML:2.0:assertion"
PROTOCOL: Final = "urn:oasis:names:tc:SAML:2.0:protocol"
METADATA: Final = "urn:oasis:names:tc:SAML:2.0:metadata"
ALGORITHMS: Final = "urn:oasis:names:tc:SAML:metadata:algsupport"
SIGNATURE: Final = "http://www.w3.org/2000/09/xmldsig#"
ENCRYPTION: Final = "http://www.w3.org/2001/04/xmlenc#"
ENCRYPTION_11: Final = "http://www.w3.org/2009/xmlenc11#"
EXCLUSIVE: Final = "http://www.w3.org/2001/10/xml-exc-c14n#"
"""The namespace of exclusive canonicalization, and its algorithm without comments."""
ENVELOPED: Final = f"{SIGNATURE}enveloped-signature"
POST: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
REDIRECT: Final = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
SUCCESS: Final = "urn:oasis:names:tc:SAML:2.0:status:Success"
BEARER: Final = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
ENTITY_FORMAT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:entity"
EMAIL_FORMAT: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT_FORMAT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
TRANSIENT_FORMAT: Final = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
UNSPECIFIED_FORMAT: Final = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"


def saml(name: str) -> str:
    return f"{{{ASSERTION}}}{name}"


def samlp(name: str) -> str:
    return f"{{{PROTOCOL}}}{name}"


def md(name: str) -> str:
    return f"{{{METADATA}}}{name}"


def alg(name: str) -> str:
    return f"{{{ALGORITHMS}}}{name}"


def ds(name: str) -> str:
    return f"{{{SIGNATURE}}}{name}"


def xenc(name: str) -> str:
    return f"{{{ENCRYPTION}}}{name}"
