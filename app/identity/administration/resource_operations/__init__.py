"""The operations of resources, and how a configuration file states them."""
