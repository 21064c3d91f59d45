"""Edits of the free profile fields by a request body."""

from contextlib import suppress
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.contract import errors
from app.contract.profile import FIELDS, Write
from app.identity.directory.accounts.profile import profile_edits
from app.kit.operations.errors import ApiError

TODAY = date(2026, 3, 1)
ANYONE = frozenset({Write.ANYONE})
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


def read(values: dict[str, Any], *, clears: bool = False, custom: tuple[str, ...] = ("shoe",)) -> profile_edits.Edits:
    return profile_edits.read(values, ANYONE, clears=clears, custom_fields=custom, today=TODAY)


def after(values: dict[str, Any], **profile: Any) -> dict[str, Any]:
    return read(values).apply(profile)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"FirstName": 7}, {"FirstName": "7"}),
        ({"Hireable": "TRUE"}, {"Hireable": True}),
        ({"IsEmailSubscribed": 0}, {"IsEmailSubscribed": False}),
        ({"FollowersCount": "12"}, {"FollowersCount": 12}),
        ({"KloutScore": {"score": "1.5"}}, {"KloutScore": {"KloutId": None, "Score": 1.5}}),
        ({"AgeRange": {"MIN": 20}}, {"AgeRange": {"Min": 20, "Max": None}}),
        ({"TeleVisionShow": [{"Name": "x"}]},
         {"TelevisionShow": [{"Id": None, "Category": None, "Name": "x", "CreatedDate": None}]}),
        ({"Badges": [{"BageId": "1"}]},
         {"Badges": [{"BadgeId": "1", "Name": None, "BadgeMessage": None, "Description": None, "ImageUrl": None}]}),
        ({"InterestedIn": ["a", 1]}, {"InterestedIn": ["a", "1"]}),
        ({"Country": "germany"}, {"Country": {"Code": "DE", "Name": "germany"}}),
        ({"Country": {"code": "de"}}, {"Country": {"Code": "DE", "Name": "Germany"}}),
        ({"Country": {"Name": "Narnia", "Code": "XX"}}, {"Country": {"Code": None, "Name": "Narnia"}}),
        ({"BirthDate": "2/29/2024"}, {"BirthDate": "2/29/2024"}),
        ({"BirthDate": "03-01-2026"}, {"BirthDate": "03-01-2026"}),
        ({"Gender": "F"}, {"Gender": "F"}),
    ],
)  # fmt: skip
def test_values_are_stored_by_their_kind(given: dict[str, Any], stored: dict[str, Any]) -> None:
    assert after(given) == stored


def test_older_spellings_inside_an_element_are_read() -> None:
    position = after({"Positions": [{"Positions": "Analyst", "Comapny": {"Name": "Engines"}}]})["Positions"][0]
    assert (position["Position"], position["Company"]["Name"], position["IsCurrent"]) == ("Analyst", "Engines", False)


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        ({"FirstName": True}, errors.BadParameter),
        ({"FirstName": "x" * 10_001}, errors.BadParameter),
        ({"Hireable": 2}, errors.BadParameter),
        ({"Hireable": []}, errors.BadParameter),
        ({"FollowersCount": "1.5"}, errors.BadParameter),
        ({"FollowersCount": 2**60}, errors.BadParameter),
        ({"FollowersCount": True}, errors.BadParameter),
        ({"KloutScore": {"Score": "nan"}}, errors.BadParameter),
        ({"KloutScore": []}, errors.BadParameter),
        ({"Skills": [1]}, errors.BadParameter),
        ({"Skills": [{}] * 501}, errors.BadParameter),
        ({"InterestedIn": "x"}, errors.BadParameter),
        ({"WebProfiles": {"a": {}}}, errors.BadParameter),
        ({"Country": 7}, errors.BadParameter),
        ({"Gender": "robot"}, errors.BadParameter),
        ({"BirthDate": "03-02-2026"}, errors.MalformedDate),  # tomorrow
        ({"BirthDate": "13-01-2000"}, errors.MalformedDate),
        ({"BirthDate": "01/31-2000"}, errors.MalformedDate),
        ({"CustomFields": {"SHOE": "38"}}, errors.UnknownCustomField),
        ({"CustomFields": {"shoe": "x" * 1001}}, errors.BadParameter),
    ],
)
def test_invalid_profile_value_is_refused(given: dict[str, Any], refusal: type[ApiError]) -> None:
    with pytest.raises(refusal):
        read(given)


@given(st.dictionaries(st.sampled_from(list(FIELDS)), JSON, max_size=4))
def test_any_body_is_read_or_refused_by_field(given: dict[str, Any]) -> None:
    """Nothing but the interface's refusals comes out, and the stored profile has the shape of the table."""
    stored: dict[str, Any] = {}
    with suppress(ApiError):
        stored = after(given)
    assert all(FIELDS[name].write is Write.ANYONE for name in stored)


def test_read_only_field_is_ignored() -> None:
    assert not read({"ExternalUserLoginId": "x", "Roles": ["admin"], "EmailVerified": True, "Nonsense": 1})


def test_null_clears_only_clearable_fields_on_request() -> None:
    stored = {"FirstName": "Ada", "Quote": "x", "Skills": [{"Name": "y"}], "Addresses": [{"Type": "Home"}]}
    nothing: dict[str, Any] = dict.fromkeys(stored)
    assert read(nothing).apply(stored) == stored
    assert read(nothing, clears=True).apply(stored) == {"Quote": "x", "Skills": [{"Name": "y"}]}


def test_deletions_match_elements_by_value() -> None:
    ids = [{"Source": "crm", "SourceId": "1", "Operation": None}, {"Source": "crm", "SourceId": "2", "Operation": None}]
    left = after({"ExternalIds": [{"Source": "CRM", "SourceId": "2", "op": "Delete"}]}, ExternalIds=ids)
    assert left == {"ExternalIds": ids[:1]}
    assert after({"ExternalIds": [{"Operation": "delete"}]}, ExternalIds=ids) == {"ExternalIds": ids}
    assert after({"ExternalIds": [{"Source": "crm", "Operation": "delete"}]}, ExternalIds=ids) == {"ExternalIds": []}


def test_deletion_from_a_missing_list_succeeds() -> None:
    assert after({"PlacesLived": [{"Name": "Paris", "Operation": "delete"}]}) == {"PlacesLived": []}


def test_edits_do_not_change_the_given_profile() -> None:
    stored = {"CustomFields": {"shoe": "38"}, "Addresses": [{"Type": "Home"}]}
    read({"CustomFields": {"shoe": None}, "Addresses": [{"Type": "Home", "op": "delete"}]}).apply(stored)
    assert stored == {"CustomFields": {"shoe": "38"}, "Addresses": [{"Type": "Home"}]}
