"""Everything of one tenant in an encrypted file, and back into another installation (docs/operating.md)."""
