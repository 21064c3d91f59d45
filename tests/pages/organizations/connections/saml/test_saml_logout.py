"""Single logout: the provider of an organization's SAML connection ends the sessions that it began."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from app.identity.authentication.sign_in.sessions import saml_sign_out
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.platform.saml import bindings
from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml.request_gate import AcceptedLogoutResponse, SamlPeer, accept_logout_response
from app.identity.platform.saml.saml_names import POST
from app.identity.platform.saml.trusted_keys import TrustedKeys
from app.identity.platform.saml_writing import message_bindings, request_writer
from app.identity.platform.saml_writing.xml_signing import SigningKey
from app.kit.limits.rate_limits import Rate
from tests.support.organizations.saml_organization import (
    IDP,
    NewSamlOrganization,
    SamlOrganization,
    provider_signer,
    read_request,
)
from tests.support.saml.signers import Signer
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import VisitedPage, Visitor

SIGN_OUT = "https://idp.globex.example/slo"


@pytest.fixture
def globex(new_saml_organization: NewSamlOrganization) -> SamlOrganization:
    return new_saml_organization(IDPSignOutUrl=SIGN_OUT)


def key_of(signer: Signer) -> SigningKey:
    pem = signer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return SigningKey(signer.certificate, pem)


def logout_url(globex: SamlOrganization) -> str:
    return f"{globex.connection['EntityId']}/logout"


def request(globex: SamlOrganization, *indexes: str, name_id: str = "mina-1", destination: str = "") -> Any:
    return request_writer.logout_request(
        entity_id=IDP, destination=destination or logout_url(globex), name_id=SamlNameId(value=name_id, name_format=""),
        session_indexes=indexes, now=globex.tenant.services.clock.now(),
    )  # fmt: skip


def by_redirect(
    globex: SamlOrganization, message: Any, signer: Signer | None = None, visitor: Visitor | None = None
) -> VisitedPage:
    key = key_of(signer or provider_signer())
    return (visitor or globex.visitor).open(message_bindings.redirect_url(message, logout_url(globex), key, "back"))


def answer(globex: SamlOrganization, page: VisitedPage, request_id: str) -> AcceptedLogoutResponse:
    """Read our answer as the provider does."""
    envelope = bindings.redirected("SAMLResponse", urlsplit(page.address).query)
    keys = TrustedKeys((globex.connection["SPCertificate"]["Certificate"],))
    peer, now = SamlPeer(entity_id=globex.connection["EntityId"], keys=keys), globex.tenant.services.clock.now()
    return accept_logout_response(envelope, peer, request_id=request_id, address=SIGN_OUT, now=now)


@pytest.mark.both_databases
def test_provider_signs_out_the_session_that_it_began(globex: SamlOrganization) -> None:
    globex.sign_in()
    message = request(globex, "_session-mina")
    page = by_redirect(globex, message, visitor=globex.new_visitor_at(globex.tenant))
    assert page.address.startswith(f"{SIGN_OUT}?SAMLResponse=")
    assert answer(globex, page, message.get("ID")).is_success
    assert parse_qs(urlsplit(page.address).query)["RelayState"] == ["back"]
    assert globex.visitor.open("/profile").is_sign_in


def test_request_without_index_ends_all_sessions_of_the_person(globex: SamlOrganization) -> None:
    other = globex.new_visitor_at(globex.tenant)
    globex.sign_in()
    globex.sign_in(other)
    by_redirect(globex, request(globex))
    assert globex.visitor.open("/profile").is_sign_in
    assert other.open("/profile").is_sign_in


@pytest.mark.parametrize(
    ("index", "name_id"), [("_other", "mina-1"), ("_session-mina", "mina-1x"), ("_other", "nobody")]
)
def test_foreign_session_goes_on(globex: SamlOrganization, index: str, name_id: str) -> None:
    globex.sign_in()
    globex.sign_in_anew(sub="mina-1x", email="john@globex.example")
    message = request(globex, index, name_id=name_id)
    assert answer(globex, by_redirect(globex, message), message.get("ID")).is_success
    assert globex.visitor.open("/profile").profile_name == "Mina Harker"


def test_posted_request_ends_sessions_too(globex: SamlOrganization) -> None:
    globex.sign_in()
    fields = message_bindings.posted_fields(request(globex), key_of(provider_signer()))
    page = globex.visitor.post_from_elsewhere(urlsplit(logout_url(globex)).path, dict(fields))
    assert page.address.startswith(SIGN_OUT)
    assert globex.visitor.open("/profile").is_sign_in


def test_hostile_logout_ends_nothing(globex: SamlOrganization, subtests: Any) -> None:
    globex.sign_in()
    path, key = urlsplit(logout_url(globex)).path, key_of(provider_signer())
    once = message_bindings.redirect_url(request(globex, "_none"), logout_url(globex), key)
    globex.visitor.open(once)
    unsigned = message_bindings.redirect_url(request(globex), logout_url(globex), None)
    pages = {
        "another key": by_redirect(globex, request(globex), provider_signer("thief")),
        "another address": by_redirect(globex, request(globex, destination="https://x.example")),
        "unsigned": globex.visitor.open(unsigned),
        "changed": globex.visitor.open(once.replace("Signature=", "Signature=AAAA")),
        "again": globex.visitor.open(once),
        "empty": globex.visitor.open(path),
        "posted junk": globex.visitor.post_from_elsewhere(path, {"SAMLRequest": base64.b64encode(b"<x/>").decode()}),
    }
    for name, page in pages.items():
        with subtests.test(name):
            assert (page.status, page.heading) == (403, "Sign-in didn’t finish")
    assert globex.visitor.open("/profile").profile_name == "Mina Harker"


def test_many_unexpected_answers_are_limited(globex: SamlOrganization, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone can open the address, and each refusal displaces a trace of the connection."""
    monkeypatch.setattr(saml_sign_out, "_RATE", Rate(3, 60))
    path = urlsplit(logout_url(globex)).path
    assert [globex.visitor.open(path).status for _ in range(5)] == [403, 403, 403, 429, 429]


def test_provider_without_address_sees_our_signed_out_page(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization()
    globex.sign_in()
    assert by_redirect(globex, request(globex)).status == 200
    assert globex.visitor.open("/profile").is_sign_in


def sign_out(globex: SamlOrganization, **query: str) -> str:
    """Sign out on our page, and return the address at the provider where the browser goes on."""
    page = globex.visitor.open(f"/logout?{urlencode(query)}").press("Sign out")
    assert page.heading == "You’re signed out"
    assert page.answer is not None
    return str(page.answer.headers.get("Refresh", "")).partition("url=")[2]


def provider_answer(globex: SamlOrganization, address: str, signer: Signer | None = None, **changed: str) -> str:
    """Return the address that brings the provider's answer to a sign-out of ours."""
    sent = read_request(address)
    message = request_writer.logout_response(
        entity_id=IDP, destination=logout_url(globex), request_id=changed.get("request_id", sent.id),
        now=globex.tenant.services.clock.now(),
    )  # fmt: skip
    key, relay_state = key_of(signer or provider_signer()), changed.get("relay_state", sent.relay_state)
    return message_bindings.redirect_url(message, logout_url(globex), key, relay_state)


@pytest.mark.both_databases
def test_sign_out_here_signs_out_at_the_provider(globex: SamlOrganization) -> None:
    globex.sign_in()
    address = sign_out(globex)
    assert address.startswith(f"{SIGN_OUT}?SAMLRequest=")
    sent = read_request(address)
    assert sent.root.findtext("{*}NameID") == "mina-1"
    assert sent.root.findtext("{*}SessionIndex") == "_session-mina"
    signed = bindings.redirected("SAMLRequest", urlsplit(address).query).query_signature
    assert signed is not None
    keys = TrustedKeys((globex.connection["SPCertificate"]["Certificate"],))
    signed.verify(keys, globex.tenant.services.clock.now())
    back = provider_answer(globex, address)
    assert globex.visitor.open(back).heading == "You’re signed out"
    assert globex.visitor.open(back).status == 403  # once
    assert globex.visitor.open("/profile").is_sign_in


def test_sign_out_returns_where_it_was_to_go(globex: SamlOrganization) -> None:
    globex.sign_in()
    address = sign_out(globex, return_url=f"{globex.visitor.home}/register")
    assert globex.visitor.open(provider_answer(globex, address)).address == f"{globex.visitor.home}/register"


def test_forged_answer_to_a_sign_out_is_refused(globex: SamlOrganization) -> None:
    globex.sign_in()
    address = sign_out(globex)
    for hostile in (
        provider_answer(globex, address, provider_signer("thief")),
        provider_answer(globex, address, request_id="_other"),
        provider_answer(globex, address, relay_state="other"),
        provider_answer(globex, address, relay_state=""),
    ):
        assert globex.visitor.open(hostile).status == 403
    assert globex.visitor.open(provider_answer(globex, address)).heading == "You’re signed out"


def test_sign_out_stays_here_without_an_address(new_saml_organization: NewSamlOrganization) -> None:
    globex = new_saml_organization()
    globex.sign_in()
    assert sign_out(globex) == ""


def test_session_by_password_signs_out_here_alone(globex: SamlOrganization) -> None:
    person = globex.tenant.person("ada@elsewhere.example")
    globex.visitor.open("/login").sign_in(person.email, person.password)
    assert sign_out(globex) == ""


def test_frames_of_apps_load_before_a_posted_sign_out(globex: SamlOrganization) -> None:
    """A provider that takes sign-outs by forms alone must not cost the applications their front-channel logout."""
    with call_of(globex.tenant.services, globex.tenant.name) as call:
        record = organization_connection_store.by_any_id(call, globex.id)
        assert record is not None
        content = {**record.content, "idp_sign_out_binding": POST}
        assert organization_connection_store.change_content(call, record, content)
        call.commit()
    app = globex.tenant.application("front", frontchannel_logout_uri="https://shop.example/out")
    globex.sign_in()
    assert globex.visitor.authorize(app).query["code"]
    page = globex.visitor.open("/logout").press("Sign out")
    assert page.form("Continue").action == SIGN_OUT
    assert '<iframe src="https://shop.example/out?' in page.html
    assert page.answer is not None
    assert "frame-src https://shop.example;" in page.answer.headers["Content-Security-Policy"]
    assert "<script" not in page.html
