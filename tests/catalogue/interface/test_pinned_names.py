"""The names that callers, stored rows, signed values and operators rely on survive every rename of code."""

from __future__ import annotations

import pytest

from tools.pins import names

pytestmark = pytest.mark.usefixtures("sources_last")

BEFORE = """## operations
POST /login · body\tEmail! Profile=#aa
## key derivation
hub calls
## members of nested objects
#aa\tFirstName LastName
"""


def test_pinned_names_equal_those_of_the_code() -> None:
    found = names.differences(names.pinned(names.PINS.read_text(encoding="utf-8")), names.current())
    assert not found, names.report(found)


def test_file_of_pins_reads_back_as_written() -> None:
    read = names.pinned(BEFORE)
    assert names.pinned(names.written(read)) == read


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("Email!", "Mail!", "operations: 'POST /login · body' lost Email! and gained Mail!"),
        ("LastName", "Surname", "operations: 'POST /login · body' lost Profile.LastName and gained Profile.Surname"),
        ("hub calls", "hub requests", "key derivation: 'hub calls' is gone; its new name may be 'hub requests'"),
    ],
)
def test_renamed_pin_is_named_in_one_sentence(old: str, new: str, sentence: str) -> None:
    found = names.differences(names.pinned(BEFORE), names.pinned(BEFORE.replace(old, new)))
    assert sentence in found
    assert "python -m tools.pins --update" in names.report(found)
