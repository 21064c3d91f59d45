"""The largest messages that the gate reads in full, and hostile ones of other entrances that are large."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from lxml import etree

from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.metadata_reader import read_metadata
from app.identity.platform.saml.request_gate import accept_authn_request
from app.identity.platform.saml.response_gate import accept_response
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.metadata import key_descriptor, metadata
from tests.support.saml.requests import ADDRESS, MESSAGES, PEER, deflated, peer, redirect
from tests.support.saml.responses import SAML, Change, expected, find, response
from tests.support.saml.signers import NOW


def many(count: int, xml: str, element: str) -> Change:
    def changed(root: etree._Element) -> None:
        parent = find(root, element)
        for _ in range(count):
            parent.append(etree.fromstring(xml))

    return changed


def large_response(**arguments: Any) -> str:
    """Return a signed response of nearly 256 KiB in base64, with as many values as it may have."""
    count = 1_900 if arguments["encryption"] is None else 1_400
    value = f'<saml:AttributeValue xmlns:saml="{SAML}">{"g" * 40}</saml:AttributeValue>'
    return base64.b64encode(response(change=many(count, value, "Attribute"), **arguments)).decode()


def readers() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield names, and calls that the gate answers or refuses."""
    encryptions: tuple[dict[str, Any] | None, ...] = (None, {})
    for part in (SignedPart.ASSERTION, SignedPart.BOTH):
        for encryption in encryptions:
            message = large_response(signed=part, encryption=encryption)
            form = "plain" if encryption is None else "encrypted"
            yield f"large response, {part}, {form}", partial(accept_response, [message], expected(), NOW)
    yield "base64 of 12 MB", partial(accept_response, ["A" * 12_000_000], expected(), NOW)
    yield "inflate bomb of 60 MB", partial(_request, deflated(b" " * 60_000_000))
    yield "inflated elements of 1 MB", partial(_request, deflated(b"<a/>" * 250_000))
    yield "request of 7,000 elements", _request_with(f"<samlp:Extensions>{'<x/>' * 7_000}</samlp:Extensions>")
    yield "request of 1 MB of spaces", _request_with(" " * 1_040_000)
    yield "signed metadata of 3,900 elements", _signed_metadata(3_900, "<x xmlns='urn:x' a='1'/>")
    yield "signed metadata of 2 MB of text", _signed_metadata(1, f"<x>{'t' * 2_080_000}</x>")
    keys = key_descriptor(signers.rsa_signer().certificate) * 1_000
    yield "metadata of 1,000 keys", partial(read_metadata, metadata(keys=keys), NOW)


def _signed_metadata(count: int, xml: str) -> Callable[[], object]:
    signer = signers.rsa_signer()
    content = metadata(change=many(count, xml, "IDPSSODescriptor"), signer=signer)
    return partial(read_metadata, content, NOW, pinned=TrustedKeys((signer.certificate,)))


def _request_with(xml: str) -> Callable[[], object]:
    content = MESSAGES["AuthnRequest"].replace("<saml:Issuer>", f"{xml}<saml:Issuer>")
    return partial(_request, deflated(content.encode()))


def _request(content: bytes) -> object:
    return accept_authn_request(redirect("AuthnRequest", content), {PEER: peer()}.get, address=ADDRESS, now=NOW)
