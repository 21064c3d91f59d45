"""client_secret_basic: the secret in HTTP Basic (RFC 6749 section 2.3.1)."""

from app.identity.protocols.oauth.client_authentication import shared_secrets
from app.identity.protocols.oauth.client_authentication.credentials import Carrier
from app.identity.protocols.oauth.client_authentication.method import Method

METHOD = Method("client_secret_basic", Carrier.HEADER, shared_secrets.verify, is_secret_sent=True)
