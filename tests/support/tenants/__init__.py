"""A tenant's own server and the programs that hold its tokens."""
