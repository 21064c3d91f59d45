"""Logout by the standards of OpenID Connect: RP-initiated, front-channel and back-channel."""
