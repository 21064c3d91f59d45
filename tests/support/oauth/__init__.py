"""Applications of a tenant, and their requests as relying parties."""
