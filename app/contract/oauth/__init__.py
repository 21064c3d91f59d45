"""OAuth 2.0 and OpenID Connect: authorization, tokens, metadata and client registration."""
