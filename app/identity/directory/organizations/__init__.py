"""Organizations: the companies among a tenant's customers, with members, roles, policies, domains and connections."""
