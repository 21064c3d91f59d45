"""PINs: a few digits beside the password."""
