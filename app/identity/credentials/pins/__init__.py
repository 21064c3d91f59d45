"""PINs: a few digits for a quick sign-in beside the password."""
