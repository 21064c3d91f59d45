"""OAuth 2 and OpenID Connect: this tenant as authorization server."""
