"""Authentication of people: sign-in, passwordless sign-in, registration, recovery, verification and federation."""
