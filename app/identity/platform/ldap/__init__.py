"""The LDAP client: verified TLS, one deadline for a conversation, and the operations that a sign-in needs."""
