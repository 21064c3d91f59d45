"""Sign-in with emailed links, codes, and by another device."""
