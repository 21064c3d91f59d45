"""`gatehouse demo`: both wings, a shop that signs in through them, and an inbox, behind one address."""
