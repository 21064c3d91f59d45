"""Passkeys in the place of a password: sign-up, sign-in, a new one for a lost one; and what an account keeps of them."""
