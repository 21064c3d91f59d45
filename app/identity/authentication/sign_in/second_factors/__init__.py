"""Operations that answer the challenge of a second factor (interface mfa.md section 2)."""
