"""How a person gets in: sign-in, passwordless sign-in, registration, recovery, verification, federation."""
