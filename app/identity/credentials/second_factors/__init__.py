"""Second factors: when one is required, when it can be enrolled, and how wrong attempts count."""
