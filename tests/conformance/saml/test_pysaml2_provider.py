"""pysaml2 is the identity provider of an organization: it verifies our messages by xmlsec1, and signs people in and out."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.authn_context import PASSWORDPROTECTEDTRANSPORT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server
from saml2.sigver import verify_redirect_signature

from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import World
from tests.support.organizations.connected_organization import MINA, business_of
from tests.support.organizations.saml_organization import SamlOrganization
from tests.support.saml.metadata_server import serving
from tests.support.saml.peers.pysaml2_messages import form_of, location
from tests.support.saml.service_provider import own_key
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage

PROVIDER = "https://idp.pysaml2.example"
SIGN_IN, SIGN_OUT = f"{PROVIDER}/sso", f"{PROVIDER}/slo"
BINDINGS = pytest.mark.parametrize("binding", [BINDING_HTTP_REDIRECT, BINDING_HTTP_POST], ids=["redirect", "post"])
NAME = NameID(format=NAMEID_FORMAT_PERSISTENT, text="mina-1")
PERSON = {"mail": MINA["email"], "givenName": "Mina", "sn": "Härker", "memberOf": ["editors", "staff"]}


def configuration(folder: Path, binding: str, **facts: Any) -> IdPConfig:
    """Return the library's configuration, which takes messages by one binding and knows us by our metadata."""
    provider = {
        "endpoints": {"single_sign_on_service": [(SIGN_IN, binding)], "single_logout_service": [(SIGN_OUT, binding)]},
        "want_authn_requests_signed": True,
        "signing_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",  # else SHA-1, which is refused
        "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
        "policy": {"default": {"name_form": "urn:oasis:names:tc:SAML:2.0:attrname-format:uri"}},
    }
    pair = {"key_file": str(folder / "key.pem"), "cert_file": str(folder / "certificate.pem")}
    common = {"entityid": f"{PROVIDER}/metadata", "xmlsec_binary": shutil.which("xmlsec1")}
    made: IdPConfig = IdPConfig().load({**common, **pair, "service": {"idp": provider}, **facts})
    return made


@dataclass
class Peers:
    """The library and an organization of ours, which know one another by metadata alone."""

    library: Server
    globex: SamlOrganization
    binding: str

    def sent(self, page: VisitedPage) -> dict[str, str]:
        """Return the parameters of a message that a page of ours brings to the provider, or that its address has."""
        if self.binding == BINDING_HTTP_POST:
            return page.form("Continue").fields
        return page.query

    def request(self, parameters: dict[str, str], parse: Callable[..., Any]) -> Any:
        """Return a request of ours after the library's checks; its signature is inside or in the query."""
        names = {"sigalg": "SigAlg", "signature": "Signature", "relay_state": "RelayState"}
        by_query = self.binding == BINDING_HTTP_REDIRECT
        signature = {name: parameters[sent] for name, sent in names.items()} if by_query else {}
        return parse(parameters["SAMLRequest"], self.binding, **signature).message

    def answer(self, parameters: dict[str, str]) -> Any:
        """Return our answer to a sign-out after the library's checks, which are its own functions for a signature in the query."""
        if self.binding == BINDING_HTTP_REDIRECT:
            ((_, certificate),) = self.library.metadata.certs(self.globex.connection["EntityId"], "any", "signing")
            assert verify_redirect_signature(parameters, self.library.sec.sec_backend, certificate)
        return self.library.parse_logout_request_response(parameters["SAMLResponse"], self.binding)

    def sign_in(self, **signed: bool) -> VisitedPage:
        parameters = self.sent(self.globex.begin())
        request = self.request(parameters, self.library.parse_authn_request)
        answer = self.library.create_authn_response(
            dict(PERSON), userid="mina", name_id=NAME,
            authn={"class_ref": PASSWORDPROTECTEDTRANSPORT, "authn_auth": PROVIDER},
            **self.library.response_args(request), **signed,
        )  # fmt: skip
        made = self.library.apply_binding(
            BINDING_HTTP_POST, str(answer), request.assertion_consumer_service_url, response=True
        )
        return self.globex.post(self.globex.visitor, form_of(made)["SAMLResponse"], parameters["RelayState"])

    def bring(self, message: Any, relay_state: str, *, is_answer: bool) -> VisitedPage:
        """Bring a logout message of the provider to us."""
        address = f"{self.globex.connection['EntityId']}/logout"
        made = self.library.apply_binding(
            self.binding, str(message), address, relay_state=relay_state, response=is_answer, sign=True
        )
        if self.binding == BINDING_HTTP_POST:
            return self.globex.visitor.post_from_elsewhere(urlsplit(address).path, form_of(made))
        return self.globex.visitor.open(location(made))


@pytest.fixture
def peers_by(
    world: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider, tmp_path: Path
) -> Callable[[str], Peers]:
    """Return a function that sets both up for a binding."""

    def make(binding: str) -> Peers:
        key = own_key("pysaml2")
        (tmp_path / "key.pem").write_text(key.private_key)
        (tmp_path / "certificate.pem").write_text(key.certificate)
        document = str(entity_descriptor(configuration(tmp_path, binding))).encode()
        stated = dict.fromkeys(("IDPEntityId", "IDPCertificate", "IDPSignInUrl"))
        with serving(document) as metadata:
            globex = SamlOrganization(
                world,
                business_of(world, identity_app),
                new_visitor_at,
                fake_provider,
                IDPMetadataUrl=metadata.url,
                **stated,
            )
        own = PlainClient(globex.visitor.client.application, use_cookies=False)
        path = urlsplit(str(globex.connection["MetadataUrl"])).path
        (tmp_path / "sp.xml").write_bytes(own.get(path, base_url=globex.visitor.home).data)
        known = {"metadata": {"local": [str(tmp_path / "sp.xml")]}}
        return Peers(Server(config=configuration(tmp_path, binding, **known)), globex, binding)

    return make


@BINDINGS
@pytest.mark.parametrize("signed", [{"sign_assertion": True}, {"sign_response": True}], ids=str)
def test_pysaml2_as_provider_signs_in(peers_by: Callable[[str], Peers], binding: str, signed: dict[str, bool]) -> None:
    peers = peers_by(binding)
    page = peers.sign_in(**{"sign_assertion": False, "sign_response": False, **signed})
    assert page.profile_name == "Mina Härker", page.text
    assert peers.globex.linked() == [(peers.globex.id, "mina-1")]


def test_unsigned_answer_of_pysaml2_is_refused(peers_by: Callable[[str], Peers]) -> None:
    peers = peers_by(BINDING_HTTP_REDIRECT)
    assert peers.sign_in(sign_assertion=False, sign_response=False).heading == "Sign-in didn’t finish"
    assert peers.globex.count_accounts() == 0


@BINDINGS
def test_our_sign_out_goes_on_at_pysaml2(peers_by: Callable[[str], Peers], binding: str) -> None:
    peers = peers_by(binding)
    peers.sign_in(sign_assertion=True, sign_response=False)
    page = peers.globex.visitor.open("/logout").press("Sign out")
    if binding == BINDING_HTTP_REDIRECT:
        assert page.answer is not None
        page = peers.globex.visitor.open(page.answer.headers["Refresh"].partition("url=")[2])
    parameters = peers.sent(page)
    request = peers.request(parameters, peers.library.parse_logout_request)
    assert request.name_id.text == "mina-1"
    answer = peers.library.create_logout_response(request, [binding], sign=binding == BINDING_HTTP_POST)
    back = peers.bring(answer, parameters["RelayState"], is_answer=True)
    assert back.heading == "You’re signed out", back.text
    assert peers.globex.visitor.open("/profile").is_sign_in


@BINDINGS
def test_sign_out_at_pysaml2_ends_our_session(peers_by: Callable[[str], Peers], binding: str) -> None:
    peers = peers_by(binding)
    peers.sign_in(sign_assertion=True, sign_response=False)
    request_id, request = peers.library.create_logout_request(
        f"{peers.globex.connection['EntityId']}/logout", peers.globex.connection["EntityId"], name_id=NAME,
        sign=binding == BINDING_HTTP_POST,
    )  # fmt: skip
    page = peers.bring(request, "back", is_answer=False)
    action = page.form("Continue").action if binding == BINDING_HTTP_POST else page.address.partition("?")[0]
    assert action == SIGN_OUT
    answer = peers.answer(peers.sent(page))
    assert answer.in_response_to == request_id
    assert answer.status_ok()
    assert peers.globex.visitor.open("/profile").is_sign_in
