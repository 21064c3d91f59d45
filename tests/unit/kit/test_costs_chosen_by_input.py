"""Numbers and texts that a sender chooses do not choose how much CPU they take."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable

import pytest
from joserfc.jwk import OctKey

from app.identity.platform import jwts
from app.identity.platform.jwts import JwtProfile, SignatureRefused
from app.kit.clock import thread_cpu_seconds
from app.kit.text.input_filter import has_active_markup
from app.kit.web.user_agents import is_automated, parse_user_agent

HEADER = {
    "alg": "PBES2-HS256+A128KW",
    "enc": "A128CBC-HS256",
    "p2c": 10**9,
    "p2s": "AAAAAAAAAAAAAAAAAAAAAA",
    "zip": "DEF",
}
HOSTILE: dict[str, tuple[Callable[[str], object], str]] = {
    "many systems in a user agent": (parse_user_agent, "Android" * 4_500),
    "a user agent of one letter": (parse_user_agent, "A" * 32_000),
    "a user agent that begins many machines": (is_automated, "bo" * 16_000),
    "many attributes in a body": (has_active_markup, "<a" + " data" * 100_000),
    "a long attribute in a body": (has_active_markup, "<a on" + "a" * 500_000),
    "many spaces in a body": (has_active_markup, "<a data" + " " * 500_000),
}


def test_encrypted_token_derives_no_key() -> None:
    """A JWE names how often PBKDF2 hashes, and may be compressed (RFC 7518 sections 4.8 and 7.3)."""
    header, key = urlsafe_b64encode(json.dumps(HEADER).encode()).decode().rstrip("="), OctKey.import_key("k" * 32)
    begun = thread_cpu_seconds()
    with pytest.raises(SignatureRefused):
        jwts.read_jwt(f"{header}.AA.AA.AA.AA", lambda _: (key,), JwtProfile(("HS256",), 10_000))
    assert thread_cpu_seconds() - begun < 0.1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_searched_in_linear_time(name: str) -> None:
    search, text = HOSTILE[name]
    begun = thread_cpu_seconds()
    search(text)
    assert thread_cpu_seconds() - begun < 0.5
