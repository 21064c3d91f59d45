"""self_signed_tls_client_auth: a certificate that is an `x5c` of the client's `jwks` or `jwks_uri` (RFC 8705 section 2.2)."""

from __future__ import annotations

from app.contract.oauth.oauth_errors import InvalidClient
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method
from app.identity.protocols.oauth.sender_constraints import client_certificates, client_keys


def verify(context: Context, client: Application, presented: ClientCredentials) -> None:  # noqa: ARG001 - of a method
    """Check that the certificate is registered; its issuer is not checked. Raises InvalidClient."""
    certificate = client_certificates.of(context)
    if certificate is None:
        raise InvalidClient("This client must present its certificate.")
    if not certificate.is_valid(context.now):
        raise InvalidClient("The certificate of the client is not valid.")
    try:
        is_registered = client_keys.has_certificate(context, client, certificate.thumbprint)
    except ProviderUnavailable:
        is_registered = False
    if not is_registered:
        raise InvalidClient("The certificate is not the client's.")


METHOD = Method("self_signed_tls_client_auth", Carrier.NOTHING, verify, is_served=client_certificates.is_configured)
