"""JWT clients and JWT providers, and sign-on with signed JWTs."""
