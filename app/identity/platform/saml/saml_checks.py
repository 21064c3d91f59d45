"""The rules of SAML messages: what a broken one means, and what to change at the provider. Operators and programs read them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from app.contract.federation.connection_checks import Diagnosis


class SamlCheck(StrEnum):
    """A rule of SAML messages, in the order of the checks; `saml_` and the name of the gate's rule."""

    SIZE = "saml_size"
    PARSER = "saml_parser"
    NODES = "saml_nodes"
    STRUCTURE = "saml_structure"
    SIGNATURE_FORM = "saml_signature_form"
    ALGORITHM = "saml_algorithm"
    KEY = "saml_key"
    VERIFIED = "saml_verified"
    TEXT = "saml_text"
    CONDITIONS = "saml_conditions"
    REPLAY = "saml_replay"
    REQUEST = "saml_request"
    ENCRYPTION = "saml_encryption"
    METADATA = "saml_metadata"


_C: Final = SamlCheck
SAML_DIAGNOSES: Final[Mapping[SamlCheck, Diagnosis]] = MappingProxyType({
    _C.SIZE: Diagnosis(
        "The message is too long, came twice, or isn’t base64.",
        "Let the provider post one `SAMLResponse` in base64, of at most 256 KiB. Send fewer groups and attributes: only those that the "
        "connection maps.",
    ),
    _C.PARSER: Diagnosis(
        "The message isn’t XML in UTF-8, or has a document type or entities.",
        "Use an identity provider that sends plain XML without a DOCTYPE. A proxy that rewrites pages can break the message, too.",
    ),
    _C.NODES: Diagnosis(
        "The message has a comment, a processing instruction or a CDATA section, which attacks on signatures need.",
        "Turn off what adds comments to the provider’s messages. If nobody did, treat it as an attack.",
    ),
    _C.STRUCTURE: Diagnosis(
        "The message isn’t one SAML 2.0 response with one assertion, or a part of it is missing or occurs twice.",
        "Let the provider answer with SAML 2.0: one `Response` with one `Assertion` that has a subject, conditions and an "
        "authentication statement. An answer with several assertions is never accepted.",
    ),
    _C.SIGNATURE_FORM: Diagnosis(
        "The signature isn’t an enveloped one of the response or the assertion, in exclusive canonical form.",
        "Let the provider sign the response or the assertion in XML, with exclusive canonicalization without comments.",
    ),
    _C.ALGORITHM: Diagnosis(
        "The signature or its digest uses an algorithm that isn’t accepted.",
        "Set the provider’s signature algorithm to RSA-SHA256. SHA-1 is never accepted.",
    ),
    _C.KEY: Diagnosis(
        "None of the connection’s certificates signed the message, or the one that did has expired.",
        "Compare the provider’s signing certificate with those of the connection. After a renewal, set `IDPCertificate` to the new one, "
        "or `IDPMetadataUrl`, so that new certificates are read before the provider uses them.",
    ),
    _C.VERIFIED: Diagnosis(
        "The message isn’t signed, or was changed after it was signed.",
        "Let the provider sign the assertion or the response. If it does, look for a proxy that changes what browsers post.",
    ),
    _C.TEXT: Diagnosis(
        "A value is empty, too long, or has space around it.",
        "Let the provider send a NameID of 1 to 256 characters, and attributes of at most 4,096, without space around them.",
    ),
    _C.CONDITIONS: Diagnosis(
        "The message is for another service, another request or another time, or the provider didn’t sign the person in.",
        "At the provider, set the audience to the connection’s `EntityId`, and the recipient, destination or single sign-on URL to its "
        "`ACSEndpoint`, character by character. The issuer is `IDPEntityId`. Set the clocks by NTP: up to 60 seconds of difference are "
        "accepted. For sign-ins that begin at the provider, turn `IsIDPInitiated` on.",
    ),
    _C.REPLAY: Diagnosis(
        "The message signed in before. Each message signs in once.",
        "Nothing at the provider. The person starts again, and doesn’t reload the page that posted the message.",
    ),
    _C.REQUEST: Diagnosis(
        "A request of the provider has something that isn’t supported, or comes from an unknown issuer.",
        "Let the provider send requests as its metadata says, with the issuer `IDPEntityId`.",
    ),
    _C.ENCRYPTION: Diagnosis(
        "The assertion can’t be decrypted, or its encryption isn’t accepted.",
        "Encrypt for the certificate of the connection’s `MetadataUrl`, by AES-GCM with RSA-OAEP, or turn encryption off.",
    ),
    _C.METADATA: Diagnosis(
        "The provider’s metadata can’t be read, or is that of another provider. The certificates of the connection stay as they were.",
        "Open `IDPMetadataUrl`: it must answer over HTTPS without a redirect with one EntityDescriptor, whose `entityID` is "
        "`IDPEntityId`. If `IDPCertificate` was stated beside the address, that key must have signed the metadata.",
    ),
})  # fmt: skip
"""What each broken rule tells an operator."""
