"""Texts with slots, plain and compressed."""

from __future__ import annotations

import gzip

import pytest

from app.kit.web.precompressed import PrecompressedText

SLOT_VALUES = {"nonce": "N" * 16, "token": "T" * 43}
OTHER = {"nonce": "Zm9vYmFyYmF6cXV4", "token": "dG9rZW4" * 6 + "x"}
TEXT = (
    f"<p nonce={SLOT_VALUES['nonce']}>Grüße, مرحبا</p>" * 40 + f"<i>{SLOT_VALUES['token']}</i>" + "<p>the end</p>" * 40
)


@pytest.mark.parametrize(
    "text",
    [TEXT, "", "no slot", SLOT_VALUES["nonce"], SLOT_VALUES["nonce"] + SLOT_VALUES["token"]],
    ids=["page", "empty", "plain", "slot", "slots"],
)
def test_filled_text_has_the_other_values(text: str) -> None:
    precompressed, expected = PrecompressedText.of(text, SLOT_VALUES), text
    for name, value in SLOT_VALUES.items():
        expected = expected.replace(value, OTHER[name])
    assert precompressed.with_values(OTHER).decode() == expected
    assert gzip.decompress(precompressed.compressed(OTHER)).decode() == expected


def test_compressed_form_is_nearly_as_small_as_whole() -> None:
    assert len(PrecompressedText.of(TEXT, SLOT_VALUES).compressed(OTHER)) < len(gzip.compress(TEXT.encode())) + 40 * 32


def test_values_in_slots_are_not_compressed() -> None:
    precompressed = PrecompressedText.of(f"<b>secret</b><i>{SLOT_VALUES['token']}</i>", SLOT_VALUES)
    guesses = (("<b>secret</b>" * 4)[:43], "x" * 43)
    assert len({len(precompressed.compressed(SLOT_VALUES | {"token": guess})) for guess in guesses}) == 1


def test_nul_byte_is_replaced_as_browsers_do() -> None:
    precompressed = PrecompressedText.of(f"a\0b{SLOT_VALUES['nonce']}\0\0c", SLOT_VALUES)
    assert gzip.decompress(precompressed.compressed(OTHER)).decode() == f"a\ufffdb{OTHER['nonce']}\ufffd\ufffdc"


@pytest.mark.parametrize("value", ["short", "N" * 17, "ä" * 16], ids=["short", "long", "not ASCII"])
def test_value_of_another_size_does_not_fit(value: str) -> None:
    precompressed = PrecompressedText.of(TEXT, SLOT_VALUES)
    for fill in (precompressed.with_values, precompressed.compressed):
        with pytest.raises(ValueError, match=r"nonce|ascii"):
            fill(SLOT_VALUES | {"nonce": value})
