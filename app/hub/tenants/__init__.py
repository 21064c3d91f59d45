"""A tenant's configuration for pages (branding, languages, sign-in options), and the cache of tenants."""
