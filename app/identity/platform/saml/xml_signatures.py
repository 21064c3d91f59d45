"""Verifies a signature of SAML: its form first, then by signxml with a key of the connection, and returns what was signed."""

from __future__ import annotations

import base64
import binascii
import re
from datetime import datetime
from typing import TYPE_CHECKING, Final

from lxml import etree
from signxml.algorithms import DigestAlgorithm, SignatureMethod
from signxml.exceptions import InvalidDigest, InvalidInput, InvalidSignature
from signxml.verifier import SignatureConfiguration, XMLVerifier

from app.identity.platform.saml.saml_names import ENVELOPED, EXCLUSIVE, ds
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import DIGESTS, SIGNATURES, TrustedKeys, unknown_key
from app.identity.platform.saml.xml_documents import MESSAGE_LIMITS, DocumentLimits, xml_parser
from app.identity.platform.saml.xml_elements import local_name

if TYPE_CHECKING:
    from lxml.etree import _Element

_INCLUSIVE: Final = f"{{{EXCLUSIVE}}}InclusiveNamespaces"
_PREFIXES: Final = re.compile(r"(?:(?:#default|[A-Za-z_][A-Za-z0-9_.-]{0,63})(?: (?=.)|$)){1,16}", re.ASCII)
_MAX_SIGNATURE_LENGTH: Final = 2_000
"""In base64; an RSA signature of 8,192 bits has 1,368 characters, and some signers wrap it."""


def verified_element(
    root: _Element, signed: _Element, keys: TrustedKeys, now: datetime, limits: DocumentLimits = MESSAGE_LIMITS
) -> tuple[_Element, str]:
    """Return a copy of an element as it was signed, without its signature, and the certificate in PEM whose key signed it.

    Read the copy alone: it is parsed from the canonical bytes whose digest was verified.

    Args:
        root: the document.
        signed: the root, or a child of it, that has the signature as its child.

    Raises:
        SamlRefusal: SIGNATURE_FORM, ALGORITHM, KEY or, if the content differs from what was signed, VERIFIED.
    """
    signature = signature_of(signed)
    if signature is None:
        raise SamlRefusal(SamlRule.VERIFIED, "An element isn’t signed.", received=local_name(signed.tag))
    algorithm = _check_form(signature, signed)
    if signed is not root and [child for child in root if child.tag == signed.tag] != [signed]:
        raise SamlRefusal(SamlRule.STRUCTURE, "The signed element isn’t the only one of its name below the root.")
    location = "./" if signed is root else f"./{signed.tag}/"
    copy, certificate = _verified(root, location, algorithm, keys, now, limits)
    if copy.tag != signed.tag or copy.get("ID") != signed.get("ID") or signature_of(copy) is not None:
        raise SamlRefusal(SamlRule.VERIFIED, "The signature is of another element.", received=local_name(copy.tag))
    return copy, certificate


def signature_of(element: _Element) -> _Element | None:
    return next((child for child in element if child.tag == ds("Signature")), None)


def check_places(root: _Element, *signed: _Element) -> None:
    """Refuse a signature that is not a child of one of these elements, and a second one in the same element."""
    for signature in root.iter("{*}Signature"):
        parent = signature.getparent()
        if signature.tag != ds("Signature") or not any(parent is element for element in signed):
            raise SamlRefusal(
                SamlRule.SIGNATURE_FORM,
                "A signature stands where none is accepted.",
                expected="a child of the message or of its assertion",
                received="no parent" if parent is None else f"a child of {local_name(parent.tag)}",
            )
    for element in signed:
        if sum(child.tag == ds("Signature") for child in element) > 1:
            raise SamlRefusal(
                SamlRule.SIGNATURE_FORM, "An element has two signatures.", received=local_name(element.tag)
            )
    for name in ("Object", "Manifest", "RetrievalMethod"):
        if next(root.iter(ds(name)), None) is not None:
            raise SamlRefusal(SamlRule.SIGNATURE_FORM, f"A signature has {name}.", received=name)


def _verified(
    root: _Element, location: str, algorithm: str, keys: TrustedKeys, now: datetime, limits: DocumentLimits
) -> tuple[_Element, str]:
    """signxml looks at the validity of a pinned certificate too, at `verification_time`."""
    expected = SignatureConfiguration(
        require_x509=True,
        location=location,
        expect_references=1,
        signature_methods=frozenset({SignatureMethod(algorithm)}),
        digest_algorithms=frozenset(map(DigestAlgorithm, DIGESTS)),
        ignore_ambiguous_key_info=True,  # the key is pinned: what the message says of it is not read
        verification_time=now,
    )
    for pem, certificate in keys.usable(algorithm, now):
        try:
            result = XMLVerifier().verify(
                root, x509_cert=certificate, parser=xml_parser(limits), id_attribute="ID", expect_config=expected
            )
        except InvalidDigest as problem:
            raise SamlRefusal(SamlRule.VERIFIED, "The message was changed after it was signed.") from problem
        except InvalidInput as problem:
            raise SamlRefusal(SamlRule.SIGNATURE_FORM, "The signature can’t be read.") from problem
        except InvalidSignature:
            continue
        except (etree.LxmlError, ValueError) as problem:
            raise SamlRefusal(SamlRule.SIGNATURE_FORM, "The signature can’t be read.") from problem
        if isinstance(result, list) or result.signed_xml is None:
            raise SamlRefusal(SamlRule.VERIFIED, "The signature isn’t of an element.")
        return result.signed_xml, pem
    raise unknown_key()


def _check_form(signature: _Element, parent: _Element) -> str:
    """Return the algorithm of a signature of the one accepted form. Raises SamlRefusal."""
    has_key = len(signature) == 3
    info, value = _exactly(signature, ["SignedInfo", "SignatureValue", *(["KeyInfo"] if has_key else [])], {"Id"})[:2]
    method, algorithm, reference = _exactly(info, ["CanonicalizationMethod", "SignatureMethod", "Reference"], {"Id"})
    transforms, digest, digest_value = _exactly(reference, ["Transforms", "DigestMethod", "DigestValue"], {"URI"})
    if reference.get("URI") != f"#{parent.get('ID')}" or not parent.get("ID"):
        raise _wrong_form("The signature refers to another element.", f"#{parent.get('ID')}", reference.get("URI"))
    _check_canonicalization(method)
    first, second = _exactly(transforms, ["Transform", "Transform"], set())
    if first.get("Algorithm") != ENVELOPED or len(first) or set(first.attrib) != {"Algorithm"}:
        raise _wrong_form(
            "The first transform isn’t that of an enveloped signature.", ENVELOPED, first.get("Algorithm")
        )
    _check_canonicalization(second)
    if set(algorithm.attrib) != {"Algorithm"} or len(algorithm) or set(digest.attrib) != {"Algorithm"} or len(digest):
        raise _wrong_form("An algorithm of the signature has parameters.", "Algorithm alone", None)
    _check_base64(value)
    _check_base64(digest_value)
    return _accepted_algorithm(str(algorithm.get("Algorithm")), str(digest.get("Algorithm")))


def _accepted_algorithm(algorithm: str, digest: str) -> str:
    if algorithm not in SIGNATURES:
        raise SamlRefusal(
            SamlRule.ALGORITHM,
            "The signature algorithm isn’t accepted.",
            expected="RSA or ECDSA with SHA-256, SHA-384 or SHA-512",
            received=algorithm,
        )
    if digest not in DIGESTS:
        raise SamlRefusal(
            SamlRule.ALGORITHM,
            "The digest algorithm isn’t accepted.",
            expected="SHA-256, SHA-384 or SHA-512",
            received=digest,
        )
    return algorithm


def _exactly(parent: _Element, names: list[str], attributes: set[str]) -> list[_Element]:
    """Return the children if they are these, in this order, and the attributes are among these."""
    found = [str(child.tag) for child in parent]
    if found != [ds(name) for name in names]:
        raise _wrong_form(
            f"{local_name(parent.tag)} has other children.", ", ".join(names), ", ".join(map(local_name, found[:6]))
        )
    if not set(map(str, parent.attrib)) <= attributes:
        raise _wrong_form(f"{local_name(parent.tag)} has other attributes.", ", ".join(sorted(attributes)), None)
    return list(parent)


def _check_canonicalization(element: _Element) -> None:
    """Accept exclusive canonicalization without comments, with at most one list of prefixes."""
    if element.get("Algorithm") != EXCLUSIVE or set(element.attrib) != {"Algorithm"}:
        raise _wrong_form(
            "The canonicalization isn’t exclusive, without comments.", EXCLUSIVE, element.get("Algorithm")
        )
    for child in element:
        is_list = child.tag == _INCLUSIVE and set(child.attrib) == {"PrefixList"} and len(child) == 0
        if not is_list or len(element) > 1 or not _PREFIXES.fullmatch(str(child.get("PrefixList"))):
            raise _wrong_form("The canonicalization has other parameters.", "one PrefixList", local_name(child.tag))


def _check_base64(element: _Element) -> None:
    text = "".join((element.text or "").split())
    try:
        is_valid = bool(text) and not len(element) and len(text) <= _MAX_SIGNATURE_LENGTH
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        is_valid = False
    if not is_valid:
        raise _wrong_form(f"{local_name(element.tag)} isn’t base64.", "base64", None)


def _wrong_form(text: str, expected: str, received: object) -> SamlRefusal:
    return SamlRefusal(SamlRule.SIGNATURE_FORM, text, expected=expected, received=received or "")
