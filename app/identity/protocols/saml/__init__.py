"""The tenant as an identity provider of SAML 2.0: requests of service providers, responses, metadata and single logout."""
