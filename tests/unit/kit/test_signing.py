"""Signed calls between the parts of the service during a change of the secret."""

import pytest

from app.kit.operations.call_signing import read_signature, signature

OLD, NEW = b"o" * 32, b"n" * 32
CALL = ("POST", "/hub/login?x=1", b"{}", "visit")
NOW = 1_800_000_000
NONCE = "n" * 22


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
def test_one_shared_secret_is_enough(signs: list[bytes], reads: list[bytes]) -> None:
    assert read_signature(reads, *CALL, signature(signs, *CALL, NOW, NONCE), NOW)


def test_no_shared_secret_is_refused() -> None:
    assert not read_signature([NEW], *CALL, signature([OLD], *CALL, NOW, NONCE), NOW)


def test_header_without_a_signature_is_refused() -> None:
    assert not read_signature([OLD], *CALL, f"t={NOW},n={NONCE}", NOW)
    assert not read_signature([OLD], *CALL, f"t={NOW},n={NONCE},v1=", NOW)


def test_signature_of_another_call_is_refused() -> None:
    shown = signature([NEW, OLD], "POST", "/hub/other", b"{}", "visit", NOW, NONCE)
    assert not read_signature([OLD, NEW], *CALL, shown, NOW)


@pytest.mark.parametrize("nonce", ["", "short", "m" * 22, "n" * 65, "é" * 22])
def test_signature_is_valid_for_its_nonce_only(nonce: str) -> None:
    shown = signature([OLD], *CALL, NOW, NONCE)
    assert read_signature([OLD], *CALL, shown, NOW) is not None
    assert read_signature([OLD], *CALL, shown.replace(NONCE, nonce), NOW) is None
    assert read_signature([OLD], *CALL, shown.replace(f",n={NONCE}", ""), NOW) is None
