"""The account's own pages: profile, addresses, linked identities, data, deletion."""
