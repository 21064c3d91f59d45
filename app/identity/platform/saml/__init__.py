"""The gate of SAML: reads messages of providers and service providers within limits, and returns only what a known key signed."""
