"""Sign-on of an account at the tenant's storefronts and booking systems."""
