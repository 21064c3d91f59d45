"""Storage of resources: items, the store's protocol, the shared table, and the hooks for the rules of each area."""
