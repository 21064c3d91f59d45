"""Custom objects: records that programs keep with accounts, and their types."""
