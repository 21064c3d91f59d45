"""The account pages: profile, identifiers, credentials, identities, consents and sessions of the signed-in account."""
