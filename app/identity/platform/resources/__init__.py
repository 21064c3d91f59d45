"""Storage of resources: items, the store's protocol, the shared table, and the hooks by which areas add rules of their own."""
