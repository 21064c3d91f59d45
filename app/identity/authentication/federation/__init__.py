"""Sign-in through other providers: the connections of a tenant, the redirect and the callback."""
