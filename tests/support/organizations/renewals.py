"""A link that adds certificates to a SAML connection of an organization, and what its sessions may call."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from app.contract.auth import Host
from app.contract.organizations import setup_operations
from app.contract.organizations.setup_operations import AddRenewedCertificate, Renewal, SetupSession, SetupToken
from app.contract.visitor_claims import VisitorClaims
from app.kit.operations.in_process_client import LocalClient
from tests.support.oauth.world import World
from tests.support.organizations.management import PATH, Business
from tests.support.organizations.saml_organization import IDP, SIGN_IN
from tests.support.saml import signers
from tests.support.tenants.tenant_server import answered


@cache
def fresh_certificate(name: str = "next", days: int = 4_000, bits: int = 2_048) -> str:
    """Return a provider's certificate that ends some days after the start of `signers.NOW`."""
    start = signers.NOW - timedelta(days=3_000)
    return signers.certificate_of(signers.rsa_key(f"renewal {name}", bits), start, signers.NOW + timedelta(days=days))


SHA1_CERTIFICATE = (
    "MIIC/TCCAeWgAwIBAgIUWzWyES5N/0V+O8/CP3fonTdanHQwDQYJKoZIhvcNAQEFBQAwDjEMMAoGA1UEAwwDaWRwMB4XDTI2MTIwMTAyNDg1Ml"
    "oXDTQ2MTEyNjAyNDg1MlowDjEMMAoGA1UEAwwDaWRwMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA0XV67krOe1Qn8K9uAPaDMW21"
    "6BYB1jIzMeJKtWw0Ud2XezG5XqQhgSaTrbe+KZNi1CF760UHVpfmPrlaNuKSclqswSfLmAq+gCkVFH1+SZ1oELVwO6x2fMLWhPzrz5ECYpDbuK"
    "H07jOqZyoAIDeDY5vE1uS/sJghZRZ255NNiGrxCA0mxk7XvIcShXiDXmJ8Y9Ixi5Vu8GgffmjwhSnd+wLVQDXNSuDVaG2P3uSQ3cSqZS2xknF4"
    "WL1Zs0LwMaeZqecitWVYkihxwN3KPWVJotnj/PB2UFRHMIyGNRMf3P+FKI5GKq+BGk9dj6ypun3d8EVwJNQkd/6Jz8T6X3uKwQIDAQABo1MwUT"
    "AdBgNVHQ4EFgQUScMOv7f2Jld44Z0uHZV3Ga/KXXwwHwYDVR0jBBgwFoAUScMOv7f2Jld44Z0uHZV3Ga/KXXwwDwYDVR0TAQH/BAUwAwEB/zAN"
    "BgkqhkiG9w0BAQUFAAOCAQEAn7n9HrJJ+tvk9u8j3NL1yUeL3UqQl6GOvdKGckh9r0qcQQHfMJSyEzCusrlFGepvVEIvTjCpMLd/tWNxYBhXeI"
    "vMEPkEMhXlY9oHUk6koR+U3cDDCw7q+RZrQKRZV5dsZY0tP9rSai+CJFASDBGLm6mIvaOijgvCkMuZ9DVxIDyEQ6BFEHNcaJcLZmNYmbI1RlcC"
    "2pJ2vyYugiW1gykKhblUsQjJvU1pqt8vGJZPpbUnL64LFxoGWgGAQqN6UQbmaqKZ8QOfuFDm2Qwvaj7FOOedOHn9e8/xsPJfCqmFczHEfdeBBk"
    "vfmATt/TbILlbkaow4dX2Z01WjHflSHf7WXQ=="
)
"""A certificate that is signed with SHA-1, in base64, until 2046: the library makes none."""


def fingerprint(pem: str) -> str:
    return x509.load_pem_x509_certificate(pem.encode()).fingerprint(hashes.SHA256()).hex()


class RenewalLink:
    """A SAML connection of an organization, a link to renew its certificates, and the hub's client of a visit."""

    def __init__(self, tenant: World, business: Business, server: Any, **members: Any) -> None:
        self.tenant, self.business = tenant, business
        self.present = fresh_certificate("present", 3_000)
        self.org = business.create("Globex", Display={"Name": "Globex Gardens"})
        self.connection = self.new_connection("globex-sso", **members)
        self.link = self.new_link(ConnectionId=self.connection["Id"])
        claims = VisitorClaims(host=f"{tenant.name}.{tenant.services.settings.hub_domain}", address="203.0.113.7")
        self.call = LocalClient(server, Host.INSIDE, claims)

    def new_connection(self, name: str, **members: Any) -> dict[str, Any]:
        body = {
            "Name": name, "ConnectionType": "saml_custom", "IDPEntityId": IDP, "IDPCertificate": self.present,
            "IDPSignInUrl": SIGN_IN, **members,
        }  # fmt: skip
        return answered(self.business.send("POST", f"{PATH}/{self.org}/connections", body))

    def new_link(self, **members: Any) -> dict[str, Any]:
        return answered(self.business.send("POST", f"{PATH}/{self.org}/setup-links", members))

    @property
    def connection_path(self) -> str:
        return f"{PATH}/{self.org}/connections/{self.connection['Id']}"

    @property
    def path(self) -> str:
        """The address of the link on the tenant's host."""
        parts = urlsplit(self.link["Url"])
        return f"{parts.path}?{parts.query}"

    def session(self, link: dict[str, Any] | None = None) -> str:
        """Open a link, by default that of the renewal; return the session."""
        token = (link or self.link)["Url"].partition("link=")[2]
        return str(self.call(setup_operations.open_link, SetupToken(token=token)).session)

    def read(self, session: str) -> Renewal:
        return self.call(setup_operations.read_renewal, SetupSession(session=session))

    def add(self, session: str, pasted: str) -> None:
        self.call(setup_operations.add_certificate, AddRenewedCertificate(session=session, certificate=pasted))

    def trusted(self) -> list[str]:
        """Return the fingerprints of the certificates that the connection trusts, as programs read them."""
        shown = answered(self.business.send("GET", self.connection_path))
        return [fingerprint(one["Certificate"]) for one in shown["IDPCertificates"]]
