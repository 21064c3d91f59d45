"""Organizations on the pages: membership, members, invitations, domains, and organizations that people own."""
