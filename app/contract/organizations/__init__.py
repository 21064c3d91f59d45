"""Organizations: members, roles, invitations, join requests, domains and connections."""
