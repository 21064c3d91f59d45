"""The published interface equals the one from before the renaming, except for the table of renames."""

from tools import compare_interface as compare

EMPTY: dict[str, dict[str, str]] = {section: {} for section in compare.SECTIONS}


def test_interface_is_equal_through_the_renames() -> None:
    old = compare.before()
    assert compare.compare(old, compare.of_code(old), compare.table()) == []


def test_rename_outside_the_table_is_a_difference() -> None:
    old = compare.before()
    new = compare.renamed(
        old, compare.Renames({**EMPTY, "operations": {"sign_in.with_password": "sign_in.by_password"}})
    )
    assert any("is now 'sign_in.by_password'" in found for found in compare.compare(old, new, compare.Renames(EMPTY)))


def test_unused_rename_is_a_difference() -> None:
    old = compare.before()
    renames = compare.Renames({**EMPTY, "tags": {"no such tag": "other"}})
    assert compare.compare(old, old, renames) == ["tags: 'no such tag' is not a name from before"]
