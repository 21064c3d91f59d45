"""Operations behind the pages of the second factor: at sign-in, and in the account."""
