"""Operations behind the pages that choose an account, sign out or share a session between sites."""
