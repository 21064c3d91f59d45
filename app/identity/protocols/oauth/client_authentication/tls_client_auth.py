"""tls_client_auth: a certificate whose chain the proxy verified, of the registered subject (RFC 8705 section 2.1)."""

from __future__ import annotations

from ipaddress import ip_address

from cryptography import x509

from app.contract.applications.client_authentication import distinguished_name, subject_of
from app.contract.oauth.oauth_errors import InvalidClient
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method
from app.identity.protocols.oauth.sender_constraints import client_certificates
from app.identity.protocols.oauth.sender_constraints.client_certificates import ClientCertificate


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:  # noqa: ARG001 - of a method
    """Check the subject of the certificate. Raises InvalidClient."""
    certificate = client_certificates.of(context)
    if certificate is None:
        raise InvalidClient("This client must present its certificate.")
    if not certificate.is_verified or not certificate.is_valid(context.now):
        raise InvalidClient("The certificate of the client is not valid.")
    if not _is_of(client, certificate):
        raise InvalidClient("The certificate is not the client's.")


def _is_of(client: Application, certificate: ClientCertificate) -> bool:
    """Compare the one registered name (RFC 8705 section 2.1.2)."""
    registered = subject_of(client.settings)
    if registered is None:
        return False
    kind, name = registered
    if kind == "subject_dn":
        return _names(distinguished_name(name)) == _names(certificate.certificate.subject)
    if kind == "san_ip":
        return ip_address(name) in certificate.alternative_names(x509.IPAddress)
    if kind == "san_uri":
        return name in certificate.alternative_names(x509.UniformResourceIdentifier)
    known = certificate.alternative_names(x509.DNSName if kind == "san_dns" else x509.RFC822Name)
    return _folded(name, kind) in {_folded(item, kind) for item in known}


def _folded(name: str, kind: str) -> str:
    """Fold the letters of a domain, but not those of a mailbox (RFC 5280 sections 4.2.1.6 and 7.5)."""
    mailbox, at, domain = name.rpartition("@")
    return name.lower() if kind == "san_dns" else f"{mailbox}{at}{domain.lower()}"


def _names(name: x509.Name) -> list[frozenset[tuple[str, object]]]:
    """Return the parts of a distinguished name to compare, without letter case and repeated spaces (RFC 4517 section 4.2.11)."""
    return [
        frozenset(
            (
                item.oid.dotted_string,
                " ".join(item.value.split()).casefold() if isinstance(item.value, str) else item.value,
            )
            for item in part
        )
        for part in name.rdns
    ]


METHOD = Method("tls_client_auth", Carrier.NOTHING, verify, is_served=client_certificates.are_verified)
