"""The signature of calls between our own parts, while the secret changes."""

import pytest

from app.kit.signing import is_signed, signature

OLD, NEW = b"o" * 32, b"n" * 32
CALL = ("POST", "/hub/login?x=1", b"{}", "visit")
NOW = 1_800_000_000


@pytest.mark.parametrize(
    ("signs", "reads"),
    [
        ([OLD], [OLD]),
        ([OLD], [OLD, NEW]),
        ([OLD], [NEW, OLD]),
        ([OLD, NEW], [OLD]),
        ([NEW, OLD], [OLD]),
        ([NEW, OLD], [OLD, NEW]),
        ([NEW], [OLD, NEW]),
        ([OLD, NEW], [NEW]),
    ],
)
def test_one_line_in_common_is_enough(signs: list[bytes], reads: list[bytes]) -> None:
    assert is_signed(reads, *CALL, signature(signs, *CALL, NOW), NOW)


def test_nothing_in_common_is_refused() -> None:
    assert not is_signed([NEW], *CALL, signature([OLD], *CALL, NOW), NOW)


def test_a_header_without_a_signature_is_refused() -> None:
    assert not is_signed([OLD], *CALL, f"t={NOW}", NOW)
    assert not is_signed([OLD], *CALL, f"t={NOW},v1=", NOW)


def test_signatures_of_another_call_are_refused() -> None:
    shown = signature([NEW, OLD], "POST", "/hub/other", b"{}", "visit", NOW)
    assert not is_signed([OLD, NEW], *CALL, shown, NOW)
