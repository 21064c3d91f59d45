"""Operations behind the pages of an authorization request and of the device flow."""
