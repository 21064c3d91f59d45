"""Operations of programs that end in a sign-in, or set a password or PIN."""
