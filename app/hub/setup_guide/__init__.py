"""The guide by which an administrator of an organization sets up its connection, in a session that a link opens. No account is needed."""
