"""Operations behind the pages on which people see and change their own account."""
