"""Operations that answer the challenge of a second factor."""
