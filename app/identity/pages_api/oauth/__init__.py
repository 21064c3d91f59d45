"""The authorization endpoint, consent, the choice of an account, devices, sign-out and shared sessions, on the pages."""
