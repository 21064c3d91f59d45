"""Operations behind the pages of sign-in through a connection, and of linked identities."""
