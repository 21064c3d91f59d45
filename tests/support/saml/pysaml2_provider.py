"""pysaml2 as an identity provider for browsers: it is set up by our metadata, verifies our requests and signs by xmlsec1."""

from __future__ import annotations

import base64
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from saml2 import BINDING_HTTP_REDIRECT
from saml2.authn_context import PASSWORDPROTECTEDTRANSPORT
from saml2.config import IdPConfig
from saml2.metadata import entity_descriptor
from saml2.server import Server
from saml2.xmldsig import DIGEST_SHA256, SIG_RSA_SHA256

from tests.support.saml import signers
from tests.support.saml.provider_server import ProviderServer

ENTITY = "https://idp.globex.example/pysaml2"


class Pysaml2Provider:
    """The provider of an organization. Its people are who `person` says."""

    person: dict[str, Any]
    server: Server

    def __init__(self, pages: ProviderServer, folder: Path) -> None:
        self.pages, self.folder = pages, folder
        self.person = {}
        key, now = signers.rsa_key("pysaml2"), datetime.now(UTC)
        private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / "key.pem").write_bytes(private)
        certificate = signers.certificate_of(key, now - timedelta(days=1), now + timedelta(days=900))
        (folder / "certificate.pem").write_text(certificate)

    @property
    def metadata(self) -> str:
        """What its administrator copies from it."""
        return str(entity_descriptor(self._config({})))

    def trust(self, document: str) -> None:
        """Set it up by the metadata of a service provider."""
        (self.folder / "sp.xml").write_text(document)
        self.server = Server(config=self._config({"metadata": {"local": [str(self.folder / "sp.xml")]}}))

    def answer(self, address: str) -> tuple[str, dict[str, str]]:
        """Return the address and the fields of the form with the answer to a redirected request."""
        query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        request = self.server.parse_authn_request(
            query["SAMLRequest"], BINDING_HTTP_REDIRECT, relay_state=query["RelayState"], sigalg=query["SigAlg"],
            signature=query["Signature"],
        )  # fmt: skip
        asked = self.server.response_args(request.message)
        made = self.server.create_authn_response(
            self.person, userid="mina", authn={"class_ref": PASSWORDPROTECTEDTRANSPORT, "authn_auth": ENTITY},
            sign_assertion=True, sign_alg=SIG_RSA_SHA256, digest_alg=DIGEST_SHA256, **asked,
        )  # fmt: skip
        message = base64.b64encode(str(made).encode()).decode()
        return asked["destination"], {"SAMLResponse": message, "RelayState": query["RelayState"]}

    def _config(self, more: dict[str, Any]) -> IdPConfig:
        return IdPConfig().load(
            {
                "entityid": ENTITY,
                "xmlsec_binary": shutil.which("xmlsec1"),
                "key_file": str(self.folder / "key.pem"),
                "cert_file": str(self.folder / "certificate.pem"),
                "service": {
                    "idp": {
                        "endpoints": {"single_sign_on_service": [(f"{self.pages.url}/sso", BINDING_HTTP_REDIRECT)]},
                        "want_authn_requests_signed": True,
                        "policy": {"default": {"lifetime": {"minutes": 5}, "attribute_restrictions": None}},
                    }
                },
                **more,
            }
        )
