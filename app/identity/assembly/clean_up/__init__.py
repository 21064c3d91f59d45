"""Deletion of expired rows, of deleted accounts and of old audit entries."""
