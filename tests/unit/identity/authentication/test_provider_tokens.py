"""The tokens that a provider answers with, as they are kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from app.identity.authentication.federation.providers.oauth2 import read_tokens

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expires_in", "seconds"),
    [
        (3600, 3600),
        ("3600", 3600),
        (1, 1),
        (0, None),
        ("0", None),
        (-1, None),
        (True, None),
        (1.5, None),
        ("soon", None),
        (None, None),
    ],
)
def test_lifetime_is_a_number_of_seconds_or_unknown(expires_in: object, seconds: int | None) -> None:
    tokens = read_tokens({"access_token": "t", "expires_in": expires_in}, NOW)
    assert tokens is not None
    assert tokens.expires_at == (NOW + timedelta(seconds=seconds) if seconds is not None else None)
