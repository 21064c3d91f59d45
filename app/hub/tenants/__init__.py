"""What pages need of a tenant: branding, languages, sign-in options; and the cache of tenants."""
