"""Operations behind the pages of organizations, for members and for invited people."""
