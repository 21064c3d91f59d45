"""Recovery of forgotten passwords and PINs, and revert of changes that an account's owner did not make."""
