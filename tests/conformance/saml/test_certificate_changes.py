"""Service providers that are other people's libraries sign people in while the certificate of the tenant changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.response import StatusError
from saml2.sigver import SignatureError

from tests.conformance.saml import test_pysaml2, test_python3_saml
from tests.support.oauth.relying_party import Person
from tests.support.saml.peers.pysaml2_messages import location
from tests.support.saml.service_provider import ServiceProvider, posted_form, read_document
from tests.support.visitors.visitor import Visitor


def of_python3_saml(visitor: Visitor, wiki: ServiceProvider, ada: Person, metadata: str) -> bool:
    """Sign in at python3-saml, which knows this metadata. Return whether it accepted the answer."""
    asking = test_python3_saml.library(visitor, wiki, metadata=metadata)
    page = visitor.open(asking.login())
    if page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    answered = test_python3_saml.library(visitor, wiki, metadata=metadata, post_data=posted_form(page).fields)
    answered.process_response(request_id=asking.get_last_request_id())
    return bool(answered.is_authenticated())


def of_pysaml2(visitor: Visitor, wiki: ServiceProvider, ada: Person, library: Saml2Client) -> bool:
    """Sign in at pysaml2. Return whether it accepted the answer."""
    request_id, _, info = library.prepare_for_negotiated_authenticate(
        entityid=f"{visitor.home}/", binding=BINDING_HTTP_REDIRECT, relay_state="state", sign=True
    )
    page = visitor.open(location(info))
    if page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    message = posted_form(page).fields["SAMLResponse"]
    try:
        answer = library.parse_authn_request_response(message, BINDING_HTTP_POST, {request_id: "/"})
    except (SignatureError, StatusError):
        return False
    return bool(answer.ava == {"mail": [ada.email], "site": ["Zürich & <Bern>"]})


def document(visitor: Visitor, wiki: ServiceProvider) -> str:
    return str(read_document(wiki.tenant, visitor, wiki.name).text)


@pytest.mark.parametrize("members", [{}, {"SignResponse": True}], ids=str)
def test_python3_saml_follows_the_certificates(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, members: dict[str, bool]
) -> None:
    wiki.change(**members)
    old = document(visitor, wiki)
    assert of_python3_saml(visitor, wiki, ada, old)
    wiki.change_certificate("next-certificate")
    published = document(visitor, wiki)
    assert [of_python3_saml(visitor, wiki, ada, known) for known in (old, published)] == [True, True]
    wiki.change_certificate("activate-certificate")
    active = document(visitor, wiki)
    known = (published, active, old)
    assert [of_python3_saml(visitor, wiki, ada, text) for text in known] == [True, True, False]
    wiki.change_certificate("former-certificate", "DELETE")
    last = document(visitor, wiki)
    assert [of_python3_saml(visitor, wiki, ada, text) for text in (published, active, last)] == [True, True, True]


def test_pysaml2_follows_the_certificates(visitor: Visitor, wiki: ServiceProvider, ada: Person, tmp_path: Path) -> None:
    def library(name: str) -> Saml2Client:
        (tmp_path / name).mkdir()
        return test_pysaml2.new_library(visitor, wiki, tmp_path / name)

    old = library("old")
    assert of_pysaml2(visitor, wiki, ada, old)
    wiki.change_certificate("next-certificate")
    published = library("published")
    assert [of_pysaml2(visitor, wiki, ada, known) for known in (old, published)] == [True, True]
    wiki.change_certificate("activate-certificate")
    active = library("active")
    assert [of_pysaml2(visitor, wiki, ada, known) for known in (published, active, old)] == [True, True, False]


def test_libraries_read_both_certificates(visitor: Visitor, wiki: ServiceProvider, tmp_path: Path) -> None:
    made = wiki.change_certificate("next-certificate")
    expected = [bare(made[name]["Certificate"]) for name in ("IdpCertificate", "NextCertificate")]
    found = OneLogin_Saml2_IdPMetadataParser.parse(document(visitor, wiki))["idp"]["x509certMulti"]
    assert found == {"signing": expected}
    store = test_pysaml2.new_library(visitor, wiki, tmp_path).metadata
    assert [bare(one) for _, one in store.certs(f"{visitor.home}/", "idpsso", "signing")] == expected


def bare(text: str) -> str:
    return "".join(line for line in text.split() if not line.startswith(("-----", "CERTIFICATE")))
