"""The email addresses of an account: decodes their columns, and computes these columns and the identifiers after a change."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.identity.directory.accounts.identifiers import EMAIL, normalize, normalize_email

PRIMARY = "primary"
MAX_EMAILS = 10
"""The number of addresses an account may have, unverified ones included."""


@dataclass(frozen=True)
class EmailAddress:
    """One address of an account."""

    value: str
    """As entered."""
    type: str
    is_verified: bool = False
    is_pending: bool = False
    """Requested: it counts, and identifies the account, once it is verified."""

    @property
    def normalized(self) -> str:
        """The normalized address; of a malformed one a text that no account has."""
        return normalize(EMAIL, self.value)

    @property
    def is_of_primary_type(self) -> bool:
        return self.type.lower() == PRIMARY

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> EmailAddress:
        return cls(entry["Value"], entry["Type"], bool(entry.get("verified")), bool(entry.get("pending")))

    def stored(self) -> dict[str, Any]:
        """Return the entry of the column `emails`."""
        flags = {"verified": self.is_verified, "pending": self.is_pending}
        return {"Type": self.type, "Value": self.value, **{name: True for name, is_set in flags.items() if is_set}}


@dataclass(frozen=True)
class EmailList:
    """The addresses of an account in their order; `primary` is the spelling of the one that mails go to."""

    addresses: tuple[EmailAddress, ...] = ()
    primary: str | None = None

    @classmethod
    def read(cls, emails: Iterable[Mapping[str, Any]], email: str | None, *, email_verified: bool) -> EmailList:
        """Decode the columns of an account. `email_verified` decides about the primary address, whatever its entry says."""
        primary, found = normalize_email(email or ""), map(EmailAddress.read, emails)
        return cls(
            tuple(replace(item, is_verified=email_verified) if item.normalized == primary else item for item in found),
            email,
        )

    @classmethod
    def single(cls, value: str, *, is_verified: bool = False) -> EmailList:
        """Return the list of an account with this address alone."""
        return cls((EmailAddress(value, "Primary", is_verified),), value)

    def __iter__(self) -> Iterator[EmailAddress]:
        return iter(self.addresses)

    def __len__(self) -> int:
        return len(self.addresses)

    @property
    def forms(self) -> tuple[str, ...]:
        """The normalized addresses."""
        return tuple(item.normalized for item in self.addresses)

    @property
    def present(self) -> tuple[EmailAddress, ...]:
        """The addresses that are not pending."""
        return tuple(item for item in self.addresses if not item.is_pending)

    @property
    def pending(self) -> tuple[EmailAddress, ...]:
        return tuple(item for item in self.addresses if item.is_pending)

    @property
    def verified(self) -> tuple[EmailAddress, ...]:
        return tuple(item for item in self.present if item.is_verified)

    @property
    def verified_domains(self) -> set[str]:
        """The domains of the verified addresses, normalized."""
        return {item.normalized.rpartition("@")[2] for item in self.verified}

    def find(self, normalized: str | None) -> EmailAddress | None:
        """Return the address with this normal form, pending ones included."""
        return next((item for item in self.addresses if item.normalized == normalized), None)

    def others(self, normalized: str | None) -> tuple[EmailAddress, ...]:
        """Return all other addresses."""
        return tuple(item for item in self.addresses if item.normalized != normalized)

    def is_primary(self, item: EmailAddress) -> bool:
        return item.normalized == normalize_email(self.primary or "")

    def is_verified(self, normalized: str | None) -> bool:
        """Return whether the account has this normalized address, verified."""
        found = self.find(normalized)
        return found is not None and found.is_verified and not found.is_pending

    def is_removable(self, item: EmailAddress) -> bool:
        """Return whether an address remains without this one, and a verified one if this one is verified."""
        left = EmailList(self.others(item.normalized))
        return item.is_pending or bool(left.verified if item.is_verified else left.present)

    # After a change.

    def all_verified(self) -> EmailList:
        return replace(self, addresses=tuple(replace(item, is_verified=True) for item in self.addresses))

    def all_pending(self) -> EmailList:
        return EmailList(tuple(replace(item, is_pending=True) for item in self.addresses))

    def at_registration(self) -> EmailList:
        """The addresses of a self-registered account: all but the primary one are pending."""
        return replace(self, addresses=(*self.addresses[:1], *self.all_pending().addresses[1:]))

    def with_pending(self, *requested: EmailAddress) -> EmailList:
        """Add addresses that count once they are verified, in place of equal ones."""
        kept = tuple(item for item in self.addresses if item.normalized not in {new.normalized for new in requested})
        return replace(self, addresses=(*kept, *(replace(item, is_pending=True) for item in requested)))

    def with_verified(self, item: EmailAddress) -> EmailList:
        """Mark an address as verified, or add it; it is the primary one if there is none."""
        is_first, found = self.primary is None, self.find(item.normalized)
        if is_first and (found is None or found.is_pending):
            kind = "Primary"
        elif found is not None and found.is_pending and item.is_of_primary_type:
            kind = "Secondary"
        else:
            kind = item.type
        proved = replace(item, type=kind, is_verified=True, is_pending=False)
        if is_first:
            return EmailList((proved, *self.others(item.normalized)), proved.value)
        return self._replaced(proved) if found is not None else replace(self, addresses=(*self.addresses, proved))

    def with_primary_verified(self, *, is_verified: bool) -> EmailList:
        kept = (replace(item, is_verified=is_verified) if self.is_primary(item) else item for item in self.addresses)
        return replace(self, addresses=tuple(kept))

    def without_right_to(self, normalized: str) -> EmailList:
        """Make an address pending, because another account verified it; the first verified one is primary instead."""
        left = tuple(
            replace(item, is_pending=True) if item.normalized == normalized else item for item in self.addresses
        )
        if normalize_email(self.primary or "") != normalized:
            return replace(self, addresses=left)
        first = next(iter(EmailList(left).verified), None)
        return EmailList(left, first.value if first else None)

    def ordered(self, items: Iterable[EmailAddress], *, verified: Collection[str] = ()) -> EmailList:
        """Return these addresses as the account's: the primary one first, else the first verified one; pending ones last.

        Args:
            verified: normalized addresses that are verified by this change.
        """
        known = [
            replace(item, is_verified=item.normalized in verified or self.is_verified(item.normalized))
            if not item.is_pending
            else item
            for item in items
        ]
        pending, present = EmailList(tuple(known)).pending, [*EmailList(tuple(known)).present]
        if not present:
            return replace(self, addresses=pending)
        if present[0].value != self.primary:
            present.sort(key=lambda item: not item.is_verified)
        first, *others = present
        former = "Secondary" if first.is_of_primary_type else first.type
        title = next((item.type for item in self.addresses[:1] if item.is_of_primary_type), "Primary")
        others = [replace(item, type=former) if item.is_of_primary_type else item for item in others]
        return EmailList((replace(first, type=title), *others, *pending), first.value)

    def merged_by_type(self, provided: EmailList) -> list[EmailAddress]:
        """Return these addresses and the provided ones, which take the place of the first of their type."""
        new = {item.normalized: item for item in provided}
        types = {item.type.lower() for item in provided}
        merged: list[EmailAddress] = []
        for item in self.addresses:
            if item.type.lower() in types:
                merged += [
                    new.pop(normalized)
                    for normalized, given in list(new.items())
                    if given.type.lower() == item.type.lower()
                ]
            elif item.normalized not in provided.forms:
                merged.append(item)
        merged += new.values()
        return sorted(merged, key=lambda item: not item.is_of_primary_type)

    def _replaced(self, item: EmailAddress) -> EmailList:
        return replace(
            self, addresses=tuple(item if item.normalized == old.normalized else old for old in self.addresses)
        )

    # As stored.

    def columns(self) -> dict[str, Any]:
        """Return the columns of the account."""
        is_verified = any(self.is_primary(item) and item.is_verified for item in self.addresses)
        emails = [item.stored() for item in self.addresses]
        return {"emails": emails, "email": self.primary, "email_verified": is_verified}

    def changes_since(self, before: EmailList) -> dict[str, Any]:
        """Return the column `emails`, and the others that differ: a write of these changes the profile's date."""
        after, stored = self.columns(), before.columns()
        return {name: value for name, value in after.items() if name == "emails" or value != stored[name]}

    def identifiers(self) -> list[tuple[str, str, bool]]:
        """Return (kind, normalized value, is_verified) of each address that identifies the account."""
        return [(EMAIL, item.normalized, item.is_verified) for item in self.present]
