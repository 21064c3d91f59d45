"""SCIM 2.0: how an identity provider's requests become changes of accounts, members and roles."""
