"""pysaml2 is a service provider: it is set up by our metadata, and verifies responses and sign-outs by xmlsec1."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.config import SPConfig

from tests.support.oauth.relying_party import Person
from tests.support.saml.peers.pysaml2_messages import form_of, location
from tests.support.saml.service_provider import ServiceProvider, posted_form, read_document
from tests.support.visitors.visitor import Visitor


@pytest.fixture
def library(visitor: Visitor, wiki: ServiceProvider, tmp_path: Path) -> Saml2Client:
    return new_library(visitor, wiki, tmp_path)


def new_library(visitor: Visitor, wiki: ServiceProvider, tmp_path: Path) -> Saml2Client:
    """Return the library, which is set up by the metadata of now, with its files in a folder."""
    assert wiki.key is not None
    (tmp_path / "metadata.xml").write_bytes(read_document(wiki.tenant, visitor, wiki.name).data)
    (tmp_path / "key.pem").write_text(wiki.key.private_key)
    (tmp_path / "certificate.pem").write_text(wiki.key.certificate)
    own: dict[str, Any] = {
        "entityid": wiki.entity_id,
        "allow_unknown_attributes": True,
        "xmlsec_binary": shutil.which("xmlsec1"),
        "metadata": {"local": [str(tmp_path / "metadata.xml")]},
        "key_file": str(tmp_path / "key.pem"),
        "cert_file": str(tmp_path / "certificate.pem"),
        "encryption_keypairs": [
            {"key_file": str(tmp_path / "key.pem"), "cert_file": str(tmp_path / "certificate.pem")}
        ],
        "service": {
            "sp": {
                "endpoints": {
                    "assertion_consumer_service": [(wiki.acs_url, BINDING_HTTP_POST)],
                    "single_logout_service": [("https://wiki.example/slo", BINDING_HTTP_REDIRECT)],
                },
                "authn_requests_signed": True,
                "logout_requests_signed": True,
                "want_response_signed": False,
                "want_assertions_signed": True,
                "signing_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",  # else SHA-1, which is refused
                "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
            }
        },
    }
    return Saml2Client(SPConfig().load(own))


@pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST])
@pytest.mark.parametrize("members", [{}, {"SignResponse": True}, {"EncryptAssertion": True}], ids=str)
def test_pysaml2_signs_in_and_out(
    visitor: Visitor, wiki: ServiceProvider, library: Saml2Client, ada: Person, members: dict[str, bool], binding: str
) -> None:
    if members:
        wiki.change(**members)
    entity = f"{visitor.home}/"
    request_id, _, info = library.prepare_for_negotiated_authenticate(
        entityid=entity, binding=binding, relay_state="state", sign=True
    )
    is_post = binding == BINDING_HTTP_POST
    page = visitor.send("POST", info["url"], form_of(info)) if is_post else visitor.open(location(info))
    fields = posted_form(page.press("Sign in", identifier=ada.email, password=ada.password)).fields
    answer = library.parse_authn_request_response(fields["SAMLResponse"], BINDING_HTTP_POST, {request_id: "/"})
    assert answer.ava == {"mail": [ada.email], "site": ["Zürich & <Bern>"]}
    asked = library.do_logout(
        answer.name_id, [entity], "the person", None, sign=True, expected_binding=BINDING_HTTP_REDIRECT
    )
    back = visitor.open(location(asked[entity][1]))
    message = back.query["SAMLResponse"]
    signed_out = library.parse_logout_request_response(message, BINDING_HTTP_REDIRECT)
    assert signed_out.status_ok()
    assert visitor.open("/profile").is_sign_in
