"""SAML messages of a provider and a service provider, good ones and ones with one change."""
