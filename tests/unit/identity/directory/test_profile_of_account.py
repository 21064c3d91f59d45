"""An account as the interface's profile."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from app.contract.profile import FIELDS
from app.identity.directory.accounts.profile.profile_document import age, entered_of, parse_birth_date, profile_of
from tests.support.accounts.profiles import ADA, NOW


def shown(**changes: Any) -> dict[str, Any]:
    return profile_of(replace(ADA, **changes))


def test_profile_holds_every_field_in_its_kind() -> None:
    assert list(shown()) == list(FIELDS)


def test_profile_holds_no_hash_and_no_answer() -> None:
    assert "argon2" not in str(shown())
    assert shown()["Password"] == "********"
    assert shown(password_hash=None)["Password"] is None


def test_dates_are_iso_8601_in_utc() -> None:
    assert shown()["CreatedDate"] == "2026-02-20T12:00:00.000Z"
    assert shown()["SignupDate"] == shown()["CreatedDate"]
    assert shown()["LastLoginDate"] is None


@pytest.mark.parametrize(
    ("first", "last", "full"),
    [("Ada", "Lovelace", "Ada Lovelace"), ("Ada", None, "Ada"), (None, "King", "King"), (None, None, None)],
)
def test_full_name_is_first_and_last_name(first: str | None, last: str | None, full: str | None) -> None:
    names = {"FirstName": first, "LastName": last, "FullName": "kept by mistake"}
    assert shown(profile=names)["FullName"] == full


def test_lock_is_shown_until_it_ends() -> None:
    ahead, past = NOW + timedelta(minutes=1), NOW - timedelta(minutes=1)
    assert shown(is_locked=True, locked_until=ahead)["IsLoginLocked"] is True
    assert shown(is_locked=True, locked_until=past)["IsLoginLocked"] is False
    assert shown(is_locked=True, lock_type="Captcha")["LoginLockedType"] == "Captcha"


def test_pending_address_is_not_listed_as_email() -> None:
    waiting = {"Type": "Primary", "Value": "new@example.test", "pending": True}
    profile = shown(emails=[*ADA.emails, waiting])
    assert profile["UnverifiedEmail"] == [{"Type": "Primary", "Value": "new@example.test"}]
    assert profile["Email"] == [{"Type": "Primary", "Value": "ada@example.test"}]


def test_country_of_the_profile_is_the_country_name() -> None:
    assert (
        shown(profile={"Country": {"Code": "DE", "Name": "Germany"}, "ProfileCountry": "X"})["ProfileCountry"]
        == "Germany"
    )
    assert shown(profile={"ProfileCountry": "X"})["ProfileCountry"] == "X"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("12-10-1815", date(1815, 12, 10)),
        ("1/2/2003", date(2003, 1, 2)),
        ("02-29-2023", None),
        ("1/2-2003", None),
        ("2003-01-02", None),
        ("12-10-1815 ", None),
        ("١٢-10-1815", None),
        (None, None),
    ],
)
def test_birth_date_is_parsed(text: str | None, day: date | None) -> None:
    assert parse_birth_date(text) == day


@pytest.mark.parametrize(
    ("born", "today", "years"),
    [
        (date(2000, 3, 1), date(2026, 3, 1), 26),
        (date(2000, 3, 2), date(2026, 3, 1), 25),
        (date(2000, 2, 29), date(2026, 2, 28), 25),
        (date(2000, 2, 29), date(2026, 3, 1), 26),
    ],
)
def test_age_is_in_whole_years(born: date, today: date, years: int) -> None:
    assert age(born, today) == years


def test_age_is_as_of_the_time_of_reading() -> None:
    assert shown(profile={"BirthDate": "03-01-2000"})["Age"] == "26"


def test_entered_part_agrees_with_the_whole_profile() -> None:
    pin = {"sealed": "x", "changed_at": "2026-01-01"}
    typed = {
        "FirstName": "Ada",
        "BirthDate": "12/10/1815",
        "CustomFields": {"shoe": "38"},
        "ImageUrl": "https://a.example/a.png",
    }
    account = replace(ADA, profile=typed, private={"pin": pin}, username="ada", phone="+442079460018")
    complete, entered = profile_of(account), entered_of(account)
    assert {name: complete[name] for name in entered} == entered
    assert {*typed, "Email", "EmailVerified", "UserName", "PhoneIdVerified", "PIN"} <= set(entered)
    assert "argon2" not in str(entered)
