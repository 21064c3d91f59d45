"""Email verification: the mail that asks, and what a link or a code that comes back changes."""
