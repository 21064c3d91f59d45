"""An account with every field of the profile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from app.identity.directory.accounts.account import Account

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


ADA = Account(
    uid="0" * 32, profile_id="1" * 32, password_hash="$argon2id$secret", email="ada@example.test", username=None, phone=None,
    email_verified=True, phone_verified=False, is_active=True, is_deleted=False, login_disabled=False, failed_attempts=0,
    lock_type="None", locked_until=None, is_locked=False, logins=3, session_limit=0, sessions_allowed=0, roles=[],
    emails=[{"Type": "Primary", "Value": "ada@example.test"}], profile={}, private={"security_answers": {"q": "$argon2id$x"}},
    created_at=NOW - timedelta(days=9), modified_at=NOW, profile_modified_at=None, last_login_at=None,
    password_changed_at=None, leaves_at=None, read_at=NOW, password_expires_at=None,
)  # fmt: skip
