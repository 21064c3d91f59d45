"""A configuration file as it is read: document, themes, declared resources, and its problems."""
