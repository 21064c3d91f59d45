"""python3-saml is a service provider: sign-in, attributes, encryption and single logout, verified by its own code."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser

from tests.support.oauth.relying_party import Person
from tests.support.saml.service_provider import ServiceProvider, posted_form, read_document
from tests.support.visitors.visitor import VisitedPage, Visitor

REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


def library(
    visitor: Visitor, wiki: ServiceProvider, path: str = "/acs", *, metadata: str = "", **request: Any
) -> OneLogin_Saml2_Auth:
    """Return the library, which is set up by our metadata: that of now, or an earlier one."""
    known = metadata or read_document(wiki.tenant, visitor, wiki.name).text
    found = OneLogin_Saml2_IdPMetadataParser.parse(known, required_sso_binding=REDIRECT, required_slo_binding=REDIRECT)
    assert wiki.key is not None
    own = {
        "strict": True,
        "sp": {
            "entityId": wiki.entity_id,
            "assertionConsumerService": {"url": wiki.acs_url},
            "singleLogoutService": {"url": "https://wiki.example/slo"},
            "x509cert": wiki.key.certificate,
            "privateKey": wiki.key.private_key,
        },
        "security": {
            "authnRequestsSigned": True, "logoutRequestSigned": True, "logoutResponseSigned": True, "wantMessagesSigned": False,
            "wantAssertionsSigned": True, "signatureAlgorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            "allowSingleLabelDomains": True,
        },
    }  # fmt: skip
    settings = OneLogin_Saml2_IdPMetadataParser.merge_settings(own, found)
    about = {
        "https": "on",
        "http_host": "wiki.example",
        "script_name": path,
        "get_data": {},
        "post_data": {},
        **request,
    }
    return OneLogin_Saml2_Auth(about, settings)


def signed_in(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> tuple[OneLogin_Saml2_Auth, VisitedPage]:
    asking = library(visitor, wiki)
    page = visitor.open(asking.login(return_to="https://wiki.example/start"))
    if page.is_sign_in:
        page = page.press("Sign in", identifier=ada.email, password=ada.password)
    fields = posted_form(page).fields
    answered = library(visitor, wiki, post_data=fields)
    answered.process_response(request_id=asking.get_last_request_id())
    assert answered.get_errors() == [], answered.get_last_error_reason()
    assert fields["RelayState"] == "https://wiki.example/start"
    return answered, page


@pytest.mark.parametrize("members", [{}, {"SignResponse": True}, {"EncryptAssertion": True}], ids=str)
def test_person_is_signed_in_with_attributes(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, members: dict[str, bool]
) -> None:
    wiki.change(**members)
    found, _ = signed_in(visitor, wiki, ada)
    assert found.is_authenticated()
    assert found.get_nameid_format() == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    assert found.get_attributes() == {"mail": [ada.email], "site": ["Zürich & <Bern>"]}


def test_library_signs_out_here(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    found, _ = signed_in(visitor, wiki, ada)
    asking = library(visitor, wiki, "/slo")
    address = asking.logout(
        name_id=found.get_nameid(),
        session_index=found.get_session_index(),
        nq=found.get_nameid_nq(),
        name_id_format=found.get_nameid_format(),
        spnq=found.get_nameid_spnq(),
    )
    back = visitor.open(address)
    answered = library(visitor, wiki, "/slo", **of_address(back.address))
    answered.process_slo(request_id=asking.get_last_request_id(), keep_local_session=True)
    assert answered.get_errors() == [], answered.get_last_error_reason()
    assert visitor.open("/profile").is_sign_in


def test_our_sign_out_is_answered_by_the_library(visitor: Visitor, wiki: ServiceProvider, ada: Person) -> None:
    signed_in(visitor, wiki, ada)
    page = visitor.open("/logout").press("Sign out")
    answered = library(visitor, wiki, "/slo", **of_address(page.address))
    address = answered.process_slo(keep_local_session=True)
    assert answered.get_errors() == [], answered.get_last_error_reason()
    assert "signed out" in visitor.open(address).text


def of_address(address: str) -> dict[str, Any]:
    query = urlsplit(address).query
    return {"get_data": {name: values[0] for name, values in parse_qs(query).items()}, "query_string": query}
