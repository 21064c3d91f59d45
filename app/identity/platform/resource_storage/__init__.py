"""Storage of resources: items, the store's protocol, the shared table, and the rules of each area."""
