"""Texts with slots, plain and compressed."""

from __future__ import annotations

import gzip

import pytest

from app.kit.web.precompressed import PrecompressedText

GIVEN = {"nonce": "N" * 16, "token": "T" * 43}
OTHER = {"nonce": "Zm9vYmFyYmF6cXV4", "token": "dG9rZW4" * 6 + "x"}
TEXT = f"<p nonce={GIVEN['nonce']}>Grüße, مرحبا</p>" * 40 + f"<i>{GIVEN['token']}</i>" + "<p>the end</p>" * 40


@pytest.mark.parametrize(
    "text",
    [TEXT, "", "no slot", GIVEN["nonce"], GIVEN["nonce"] + GIVEN["token"]],
    ids=["page", "empty", "plain", "slot", "slots"],
)
def test_filled_text_has_the_other_values(text: str) -> None:
    precompressed, expected = PrecompressedText.of(text, GIVEN), text
    for name, value in GIVEN.items():
        expected = expected.replace(value, OTHER[name])
    assert precompressed.with_values(OTHER).decode() == expected
    assert gzip.decompress(precompressed.compressed(OTHER)).decode() == expected


def test_compressed_form_is_nearly_as_small_as_whole() -> None:
    assert len(PrecompressedText.of(TEXT, GIVEN).compressed(OTHER)) < len(gzip.compress(TEXT.encode())) + 40 * 32


def test_values_in_slots_are_not_compressed() -> None:
    precompressed = PrecompressedText.of(f"<b>secret</b><i>{GIVEN['token']}</i>", GIVEN)
    guesses = (("<b>secret</b>" * 4)[:43], "x" * 43)
    assert len({len(precompressed.compressed(GIVEN | {"token": guess})) for guess in guesses}) == 1


def test_nul_byte_is_replaced_as_browsers_do() -> None:
    precompressed = PrecompressedText.of(f"a\0b{GIVEN['nonce']}\0\0c", GIVEN)
    assert gzip.decompress(precompressed.compressed(OTHER)).decode() == f"a\ufffdb{OTHER['nonce']}\ufffd\ufffdc"


@pytest.mark.parametrize("value", ["short", "N" * 17, "ä" * 16], ids=["short", "long", "not ASCII"])
def test_value_of_another_size_does_not_fit(value: str) -> None:
    precompressed = PrecompressedText.of(TEXT, GIVEN)
    for fill in (precompressed.with_values, precompressed.compressed):
        with pytest.raises(ValueError, match=r"nonce|ascii"):
            fill(GIVEN | {"nonce": value})
