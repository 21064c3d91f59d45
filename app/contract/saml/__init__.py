"""SAML clients and SAML providers."""
