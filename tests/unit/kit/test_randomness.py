"""Tokens cannot be guessed: at least 128 random bits each (RFC 6749 section 10.10)."""

import re

from app.kit import randomness

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def test_every_bit_of_a_guid_is_random() -> None:
    """A version 4 GUID always has the same six bits. A fair bit has the same value 200 times with probability 2 ** -199."""
    texts = [randomness.guid() for _ in range(200)]
    assert all(_GUID.fullmatch(text) for text in texts)
    numbers = [int(text.replace("-", ""), 16) for text in texts]
    assert [bit for bit in range(128) if len({number >> bit & 1 for number in numbers}) == 1] == []


def test_a_token_has_256_bits() -> None:
    assert {len(randomness.token()) for _ in range(50)} == {43}


def test_a_one_time_code_has_its_length_and_any_digit() -> None:
    """Codes that begin with zeros, too. A digit is missing at one place of 400 codes with probability 2 ** -60."""
    texts = [randomness.digits(6) for _ in range(400)]
    assert [{text[at] for text in texts} for at in range(6)] == [set("0123456789")] * 6
    assert {len(text) for text in texts} == {6}
