"""pysaml2 as the other side of a SAML row: it does the messages alone, without pages, sessions or a database."""

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
from saml2.client import Saml2Client
from saml2.config import IdPConfig, SPConfig
from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
from saml2.server import Server

from app.identity.platform.saml_writing.xml_signing import SigningKey
from tests.support.services.servers import program

SHA256 = {
    "signing_algorithm": "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
    "digest_algorithm": "http://www.w3.org/2001/04/xmlenc#sha256",
}
IDP, SIGN_IN = "https://idp.peer.example/saml", "https://idp.peer.example/sso"
SP, ACS = "https://sp.peer.example/saml", "https://sp.peer.example/acs"
_TURNS, _TIMES = 6, 12


def cpu_ms(act: Callable[[], object]) -> float:
    """Return the CPU of one `act` in the least busy turn, with that of the programs that it starts."""
    act()
    return min(_turn(act) for _ in range(_TURNS)) * 1000


def _turn(act: Callable[[], object]) -> float:
    began = _used()
    for _ in range(_TIMES):
        act()
    return (_used() - began) / _TIMES


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class PysamlPair:
    """pysaml2 as an identity provider and as a service provider that know each other."""

    def __init__(self, provider: Server, client: Saml2Client) -> None:
        self.provider, self.client = provider, client

    @classmethod
    def create(cls, folder: Path, key: SigningKey) -> Self:
        """Make both in a folder; one key signs for the provider."""
        folder.mkdir()
        (folder / "key.pem").write_text(key.private_key)
        (folder / "certificate.pem").write_text(key.certificate)
        common: dict[str, Any] = {
            "xmlsec_binary": program("xmlsec1"),
            "key_file": str(folder / "key.pem"),
            "cert_file": str(folder / "certificate.pem"),
            "allow_unknown_attributes": True,
        }
        at_provider = {"endpoints": {"single_sign_on_service": [(SIGN_IN, BINDING_HTTP_REDIRECT)]}, **SHA256}
        at_client = {
            "endpoints": {"assertion_consumer_service": [(ACS, BINDING_HTTP_POST)]},
            "want_response_signed": False,
            "want_assertions_signed": True,
            **SHA256,
        }
        idp = {**common, "entityid": IDP, "service": {"idp": {**at_provider, "sign_response": False}}}
        sp = {**common, "entityid": SP, "service": {"sp": at_client}}
        for name, made in (("idp", IdPConfig().load({**idp})), ("sp", SPConfig().load({**sp}))):
            (folder / f"{name}.xml").write_text(_metadata(made))
        idp["metadata"], sp["metadata"] = {"local": [str(folder / "sp.xml")]}, {"local": [str(folder / "idp.xml")]}
        return cls(Server(config=IdPConfig().load(idp)), Saml2Client(SPConfig().load(sp)))

    def request(self) -> tuple[str, str]:
        """Return the ID of a new request, and the message of its redirect."""
        identifier, request = self.client.create_authn_request(SIGN_IN)
        sent = self.client.apply_binding(BINDING_HTTP_REDIRECT, str(request), SIGN_IN)
        return str(identifier), parse_qs(urlsplit(dict(sent["headers"])["Location"]).query)["SAMLRequest"][0]

    def respond(self, message: str) -> str:
        """Read a request, and return the response with a signed assertion: what our identity provider does."""
        request = self.provider.parse_authn_request(message, BINDING_HTTP_REDIRECT).message
        answer = self.provider.create_authn_response(
            {"mail": ["ada@example.com"]},
            request.id,
            ACS,
            SP,
            name_id=NameID(format=NAMEID_FORMAT_PERSISTENT, text="ada-1"),
            authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password"},
            sign_assertion=True,
            sign_response=False,
            sign_alg=SHA256["signing_algorithm"],
            digest_alg=SHA256["digest_algorithm"],
        )
        return str(answer)

    def accept(self, message: str, request_id: str) -> object:
        """Verify and read a response: what our service provider does."""
        answer = self.client.parse_authn_request_response(message, BINDING_HTTP_POST, {request_id: "/"})
        if answer is None:
            raise ValueError("pysaml2 refused a response")
        return answer


def _metadata(config: Any) -> str:
    from saml2.metadata import entity_descriptor  # noqa: PLC0415 - the row alone needs it

    return str(entity_descriptor(config))
