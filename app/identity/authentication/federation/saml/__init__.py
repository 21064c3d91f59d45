"""Sign-in by SAML: this service as the service provider of organizations' and tenants' identity providers."""
