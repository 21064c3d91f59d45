"""OAuth 2 and OpenID Connect: this tenant as authorization server."""

from app.identity.protocols.oauth.issuers import own_client

__all__ = ["own_client"]
