"""Second factors: who is asked for one, who may enrol one, and that wrong ones count."""
