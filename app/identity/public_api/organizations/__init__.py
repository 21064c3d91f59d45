"""Organizations by programs: roles, members, connections, domains, invitations and membership requests."""
