"""Operations behind the pages of sign-in by a link, a code or a phone."""
