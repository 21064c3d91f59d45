"""Programs verify email addresses and phone numbers of accounts."""
