"""The CSS of a tenant's theme: checked against what it may do (`allowed`), and served as what was checked (`check`)."""
