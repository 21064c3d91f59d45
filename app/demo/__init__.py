"""`gatehouse demo`: hub and identity service, a shop as relying party, and an inbox, on one address."""
