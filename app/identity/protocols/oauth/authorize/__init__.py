"""The way of an authorization request: its checks, one per file, the decision on the next step, and the responses."""
