"""TLS certificates of clients, and the headers in which a proxy sends them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from joserfc.jwk import ECKey

from app.kit.web.proxies import CERTIFICATE_CHECK, CLIENT_CERTIFICATE
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.world import World

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key. Most sign themselves: who signed one is the proxy's concern."""

    certificate: x509.Certificate
    private_key: ec.EllipticCurvePrivateKey

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """The private key, as programs that use the certificate read it."""
        return self.private_key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def escaped(self) -> str:
        """As nginx sends it (`$ssl_client_escaped_cert`)."""
        return quote(self.pem, safe="")

    @property
    def field(self) -> str:
        """As RFC 9440 sends it."""
        return f":{base64.b64encode(self.der).decode()}:"

    @property
    def element(self) -> str:
        """As Envoy sends it in X-Forwarded-Client-Cert, with its names."""
        digest = hashlib.sha256(self.der).hexdigest()
        subject = self.certificate.subject.rfc4514_string().replace("\\", "\\\\")
        return f'Hash={digest};Cert="{self.escaped}";Subject="{subject}"'

    @property
    def jwk(self) -> dict[str, Any]:
        """The key set's entry that registers it."""
        pem = self.certificate.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        return {**ECKey.import_key(pem).as_dict(private=False), "x5c": [base64.b64encode(self.der).decode()]}

    def environ(self, check: str = "SUCCESS", **more: Any) -> dict[str, Any]:
        """Return the environment of a request over its connection, as the middleware leaves it."""
        return {CLIENT_CERTIFICATE: self.escaped, CERTIFICATE_CHECK: check, "REMOTE_ADDR": "198.51.100.9", **more}


def certificate(
    subject: str = "CN=shop,O=Example", names: Sequence[x509.GeneralName] = (), *, begins: timedelta = -DAY, ends: timedelta = 1_000 * DAY,
    signed_by: Certificate | None = None, is_authority: bool = False,
) -> Certificate:  # fmt: skip
    """Return a new certificate of this subject, signed by an authority or by itself."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name.from_rfc4514_string(subject)
    made = x509.CertificateBuilder(
        issuer_name=signed_by.certificate.subject if signed_by else name,
        subject_name=name,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now + begins,
        not_valid_after=now + ends,
    )
    if names:
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if is_authority:
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    signer = signed_by.private_key if signed_by else key
    return Certificate(made.sign(signer, hashes.SHA256()), key)


GRANTS = ["authorization_code", "refresh_token", "client_credentials"]


def self_signed(world: World, *certificates: Certificate, **settings: Any) -> RelyingParty:
    keys: dict[str, Any] = {"jwks": {"keys": [item.jwk for item in certificates]}} if certificates else {}
    method = "self_signed_tls_client_auth"
    return world.application(
        "own", secret=None, token_endpoint_auth_method=method, grant_types=GRANTS, **keys, **settings
    )
