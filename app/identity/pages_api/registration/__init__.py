"""Registration on the pages, and the verification of addresses and numbers."""
