"""Sign-in through other providers: which a tenant offers, and the way there and back."""
