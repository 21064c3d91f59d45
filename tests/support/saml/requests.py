"""Requests and logout messages: by POST with a signature inside, by redirect with one over the query."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from lxml import etree

from app.identity.platform.saml.bindings import SamlEnvelope, posted, redirected
from app.identity.platform.saml.request_gate import SamlPeer
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.responses import NOTHING, SAML, SAMLP, Change
from tests.support.saml.signers import RSA_SHA256, Signer

PEER, ACS, ADDRESS = "https://sp.example/saml", "https://sp.example/acs", "https://idp.example/sso"
_HEAD = (
    f'xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="_message1" Version="2.0" IssueInstant="2026-06-01T12:00:00Z" '
    f'Destination="{ADDRESS}"'
)
_ISSUER = f"<saml:Issuer>{PEER}</saml:Issuer>"
_SUCCESS = '<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status>'
MESSAGES = {
    "AuthnRequest": f'<samlp:AuthnRequest {_HEAD} AssertionConsumerServiceURL="{ACS}" ForceAuthn="true">{_ISSUER}'
    '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" AllowCreate="true"/>'
    "<samlp:RequestedAuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password"
    "</saml:AuthnContextClassRef></samlp:RequestedAuthnContext></samlp:AuthnRequest>",
    "LogoutRequest": f"<samlp:LogoutRequest {_HEAD}>{_ISSUER}<saml:NameID>ada@example.test</saml:NameID>"
    "<samlp:SessionIndex>_session1</samlp:SessionIndex></samlp:LogoutRequest>",
    "LogoutResponse": f'<samlp:LogoutResponse {_HEAD} InResponseTo="_request1">{_ISSUER}{_SUCCESS}</samlp:LogoutResponse>',
}


def parameter_of(name: str) -> str:
    return "SAMLResponse" if name == "LogoutResponse" else "SAMLRequest"


def peer(**changes: Any) -> SamlPeer:
    values: dict[str, Any] = {
        "entity_id": PEER,
        "keys": TrustedKeys((signers.rsa_signer().certificate,)),
        "acs_urls": (ACS, "https://sp.example/acs2"),
    }
    return SamlPeer(**{**values, **changes})


def message(
    name: str,
    *,
    change: Change = NOTHING,
    after: Change = NOTHING,
    signer: Signer | None = None,
    is_signed: bool = True,
    **form: Any,
) -> bytes:
    """Return a message with a signature inside. The arguments are those of `response_tree`."""
    root = etree.fromstring(MESSAGES[name])
    change(root)
    if is_signed:
        signers.sign(root, signer or signers.rsa_signer(), **form)
    after(root)
    return etree.tostring(root)


def post(name: str, content: bytes | None = None, **arguments: Any) -> SamlEnvelope:
    sent = message(name, **arguments) if content is None else content
    return posted(parameter_of(name), [base64.b64encode(sent).decode()], ["state"])


def deflated(content: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(content) + stream.flush()


def query(
    name: str,
    content: bytes | None = None,
    *,
    relay_state: str | None = "state",
    algorithm: str = RSA_SHA256,
    signer: Signer | None = None,
    is_signed: bool = True,
    change_query: Callable[[str], str] = str,
    **arguments: Any,
) -> str:
    """Return a query whose signature covers what is before it."""
    if content is None:
        content = deflated(message(name, is_signed=False, **arguments))
    made = f"{parameter_of(name)}={quote(base64.b64encode(content).decode(), safe='')}"
    if relay_state is not None:
        made += f"&RelayState={quote(relay_state, safe='')}"
    if is_signed:
        made += f"&SigAlg={quote(algorithm, safe='')}"
        value = signers.signature_value(made.encode(), (signer or signers.rsa_signer()).key, algorithm)
        made += f"&Signature={quote(base64.b64encode(value).decode(), safe='')}"
    return change_query(made)


def redirect(name: str, content: bytes | None = None, **arguments: Any) -> SamlEnvelope:
    return redirected(parameter_of(name), query(name, content, **arguments))
