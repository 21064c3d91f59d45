"""OAuth 2 and OpenID Connect: this tenant as authorization server."""

from app.identity.protocols.oauth.issuers import hub_client

__all__ = ["hub_client"]
