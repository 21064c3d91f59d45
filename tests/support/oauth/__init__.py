"""Applications of a tenant, and what they send as relying parties."""
