"""Claims about accounts, organizations and roles, and the identifiers that applications get."""
