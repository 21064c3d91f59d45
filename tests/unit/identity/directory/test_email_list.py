"""The addresses of an account: what is stored of them, and what a change does to columns and identifiers."""

from __future__ import annotations

from typing import Any

from app.identity.directory.accounts.email_list import EmailAddress, EmailList

ADA, WORK, NEW = "Ada@example.test", "ada@work.test", "new@example.test"
STORED: list[dict[str, Any]] = [
    {"Type": "Primary", "Value": ADA},
    {"Type": "Work", "Value": WORK, "verified": True},
    {"Type": "Home", "Value": NEW, "pending": True},
]


def emails(*, is_verified: bool = True) -> EmailList:
    return EmailList.read(STORED, ADA, email_verified=is_verified)


def values(found: EmailList) -> list[tuple[str, str, bool]]:
    return [(item.value, item.type, item.is_pending) for item in found]


def test_column_decides_whether_primary_address_is_verified() -> None:
    assert [item.value for item in emails().verified] == [ADA, WORK]
    assert [item.value for item in emails(is_verified=False).verified] == [WORK]
    assert emails().columns() == {
        "email": ADA,
        "email_verified": True,
        "emails": [{**STORED[0], "verified": True}, *STORED[1:]],
    }


def test_pending_address_identifies_no_account() -> None:
    assert emails().identifiers() == [("email", "ada@example.test", True), ("email", WORK, True)]
    assert not emails().is_verified(NEW)


def test_verified_pending_address_counts_and_leaves_primary() -> None:
    pending = emails().find(NEW)
    assert pending
    after = emails().with_verified(pending)
    assert after.changes_since(emails()).keys() == {"emails"}
    assert ("email", NEW, True) in after.identifiers()


def test_first_verified_address_becomes_primary() -> None:
    after = EmailList.read(STORED[2:], None, email_verified=False).with_verified(EmailAddress(NEW, "Home"))
    assert after == EmailList.single(NEW, is_verified=True)


def test_removed_primary_address_is_replaced_by_verified_one() -> None:
    after = emails().ordered(emails().others("ada@example.test"))
    assert values(after) == [(WORK, "Primary", False), (NEW, "Home", True)]
    assert (after.primary, after.columns()["email_verified"]) == (WORK, True)


def test_address_that_another_account_verified_is_pending() -> None:
    after = emails(is_verified=False).without_right_to("ada@example.test")
    assert [item.value for item in after.present] == [WORK]
    assert after.primary == WORK


def test_last_verified_address_is_not_removable() -> None:
    unverified = EmailList.read(STORED[:2], ADA, email_verified=False)
    primary, work = unverified.addresses
    assert unverified.is_removable(primary)
    assert not unverified.is_removable(work)


def test_provided_address_replaces_the_one_of_its_type() -> None:
    provided = EmailList((EmailAddress(NEW, "work"),), NEW)
    assert [item.value for item in emails().merged_by_type(provided)] == [ADA, NEW]
