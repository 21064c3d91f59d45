"""node-saml is a service provider: it makes requests, and verifies responses and sign-outs by its own code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.oauth.relying_party import Person
from tests.support.saml.service_provider import ServiceProvider, posted_form
from tests.support.visitors.visitor import Visitor

NODE = Path(sys.executable).with_name("node")
SCRIPT = Path(__file__).with_name("node_saml.mjs")


def library(visitor: Visitor, wiki: ServiceProvider, call: str, **arguments: Any) -> Any:
    """Call the library in a process of its own, and return the answer."""
    metadata = wiki.metadata(visitor)
    assert wiki.key is not None
    assert metadata.provider is not None
    options = {
        "callbackUrl": wiki.acs_url,
        "entryPoint": wiki.login_url(visitor),
        "logoutUrl": wiki.logout_url(visitor),
        "issuer": wiki.entity_id,
        "audience": wiki.entity_id,
        "idpIssuer": metadata.entity_id,
        "idpCert": list(metadata.provider.signing_certificates),
        "privateKey": wiki.key.private_key,
        "decryptionPvk": wiki.key.private_key,
        "signatureAlgorithm": "sha256",
        "wantAuthnResponseSigned": False,
        "wantAssertionsSigned": True,
        "identifierFormat": None,
        "disableRequestedAuthnContext": True,
    }
    sent = json.dumps({"options": options, "call": call, **arguments})
    found = subprocess.run([NODE, SCRIPT], input=sent, capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == 0, found.stderr[-2_000:]
    return json.loads(found.stdout)


@pytest.mark.parametrize("members", [{}, {"EncryptAssertion": True}], ids=str)
def test_node_saml_signs_in_and_out(
    visitor: Visitor, wiki: ServiceProvider, ada: Person, members: dict[str, bool]
) -> None:
    wiki.change(**members)
    page = visitor.open(library(visitor, wiki, "login"))
    fields = posted_form(page.press("Sign in", identifier=ada.email, password=ada.password)).fields
    profile = library(visitor, wiki, "response", response=fields["SAMLResponse"])
    assert profile["nameIDFormat"] == "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    assert (profile["mail"], profile["site"]) == (ada.email, "Zürich & <Bern>")
    back = visitor.open(library(visitor, wiki, "logout", profile=profile))
    assert back.address.startswith("https://wiki.example/slo?SAMLResponse=")
    assert library(visitor, wiki, "signed_out", query=back.address.partition("?")[2])["loggedOut"] is True
    assert visitor.open("/profile").is_sign_in
