"""Organizations, their members, and how people join them."""
