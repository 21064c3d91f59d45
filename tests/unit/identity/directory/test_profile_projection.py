"""The `fields` parameter, for every text that a caller may send."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.identity.directory.accounts.profile.selected_fields import Tree, parse, project

PROFILE: dict[str, Any] = {
    "FirstName": "Ada",
    "LastName": None,
    "Country": {"Code": "GB", "Name": "United Kingdom"},
    "Email": [{"Type": "Primary", "Value": "ada@example.test"}, {"Type": "Work", "Value": "a@example.test"}],
    "Positions": [{"Position": "Analyst", "Company": {"Name": "Engines", "Type": None}}],
    "Roles": ["reader"],
    "CustomFields": {"shoe": "38", "SHOE": "39"},
}
NAMES = st.sampled_from([*PROFILE, "Nonsense", "Code", "Company", "Name", "*", "firstname"])
TEXTS = st.text(st.sampled_from("abAB*,/() é\u200b"), max_size=200) | st.text(max_size=100)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("FirstName,LastName", {"FirstName": "Ada", "LastName": None}),
        (" FirstName , LastName ", {"FirstName": "Ada", "LastName": None}),
        ("Country/Code", {"Country": {"Code": "GB"}}),
        ("Country(Code),Country/Name", {"Country": {"Code": "GB", "Name": "United Kingdom"}}),
        ("Country/Code,Country", {"Country": PROFILE["Country"]}),
        ("Country,Country/Code", {"Country": PROFILE["Country"]}),
        ("Email/Type", {"Email": [{"Type": "Primary"}, {"Type": "Work"}]}),
        ("Positions(Company/Name)", {"Positions": [{"Company": {"Name": "Engines"}}]}),
        ("Positions(Company(Name,Type),Position)", {"Positions": [PROFILE["Positions"][0]]}),
        ("*/Code", {"Country": {"Code": "GB"}, "Email": [{}, {}], "Positions": [{}], "Roles": [], "CustomFields": {},
                    "LastName": None}),
        ("FirstName/x", {}),
        ("LastName/x", {"LastName": None}),
        ("CustomFields/shoe", {"CustomFields": {"shoe": "38"}}),
        ("Roles", {"Roles": ["reader"]}),
        ("Nonsense", {}),
        ("Country(Code", {"Country": {"Code": "GB"}}),
        ("Country)Code,FirstName", {"Country": PROFILE["Country"], "FirstName": "Ada"}),
    ],
)  # fmt: skip
def test_fields_expression_is_parsed(fields: str, expected: dict[str, Any]) -> None:
    assert project(PROFILE, fields) == expected


@pytest.mark.parametrize("fields", [None, "", "*", " ", ",,,", "()", "((((", "//", "*,FirstName"])
def test_empty_or_star_expression_gives_everything(fields: str | None) -> None:
    assert project(PROFILE, fields) == PROFILE


@given(TEXTS)
def test_any_expression_gives_a_part_of_the_profile(fields: str) -> None:
    chosen = project(PROFILE, fields)
    assert set(chosen) <= set(PROFILE)


@given(st.lists(NAMES, min_size=1, max_size=5))
def test_list_of_names_selects_exactly_those(names: list[str]) -> None:
    chosen = project(PROFILE, ",".join(names))
    known = {name.lower(): name for name in PROFILE}
    expected = set(PROFILE) if "*" in names else {known[name.lower()] for name in names if name.lower() in known}
    assert chosen == {name: PROFILE[name] for name in expected}


@given(
    st.recursive(
        NAMES, lambda inner: st.builds("{}({})".format, NAMES, inner) | st.builds("{}/{}".format, NAMES, inner)
    )
)
def test_member_selection_is_part_of_the_whole_selection(path: str) -> None:
    first = path.replace("(", "/").split("/")[0]
    assert set(project(PROFILE, path)) <= set(project(PROFILE, first))


@pytest.mark.parametrize(
    "attack", ["(" * 100_000, "a(" * 50_000, "a/" * 50_000, "a," * 50_000, "*(" * 50_000, "*/" * 50_000]
)
def test_parsing_cost_is_bounded_by_the_text(attack: str) -> None:
    assert depth(parse(attack)) <= 12 * 12
    assert set(project(PROFILE, attack)) <= set(PROFILE)


def depth(tree: Tree | None) -> int:
    deepest, level = 0, [tree]
    while level := [inside for item in level if item for inside in item.values()]:
        deepest += 1
    return deepest
