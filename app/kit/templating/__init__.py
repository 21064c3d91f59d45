"""Templates of tenants: a small language that cannot run long, show what it is not given, or break a page."""
