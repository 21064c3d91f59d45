"""Organizations by programs: roles, members, connections, domains, invitations and join requests."""
