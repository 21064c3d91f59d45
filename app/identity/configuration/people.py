"""The accounts of a configuration file. A stated key wins; an absent one is left as the person has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.contract.configuration import Brand, TenantSettings
from app.contract.profile import Write
from app.contract.tenant_file import AccountFile, TenantFile
from app.identity.accounts import editing, from_file, identifiers, store
from app.identity.accounts.account import Account
from app.identity.accounts.editing import Edits
from app.identity.call import Call
from app.identity.configuration.plan import Action, Change, differences
from app.identity.configuration.problems import Path
from app.identity.configuration.run import Run
from app.identity.ledger import Ledger
from app.identity.outbox import Outbox
from app.identity.recovery import renewal
from app.identity.sign_in import sessions
from app.identity.store import removal
from app.identity.tenants.tenant import Tenant
from app.identity.tokens import service as tokens
from app.identity.verification import notices
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.reading import RawRequest

KINDS = (identifiers.EMAIL, identifiers.USERNAME, identifiers.PHONE)
FREE = {
    "prefix": "Prefix",
    "first_name": "FirstName",
    "middle_name": "MiddleName",
    "last_name": "LastName",
    "suffix": "Suffix",
    "nick_name": "NickName",
    "birth_date": "BirthDate",
    "gender": "Gender",
    "website": "Website",
    "company": "Company",
    "local_language": "LocalLanguage",
    "custom_fields": "CustomFields",
}
"""The file's keys and the interface's members."""
_WRITERS = frozenset({Write.ANYONE, Write.REGISTRATION})
_SWITCHES = ("email_verified", "phone_verified", "is_active")


@dataclass
class People:
    """One pass over the accounts of one tenant."""

    run: Run
    stated: TenantFile
    path: Path
    settings: TenantSettings
    is_new: bool

    def changes(self) -> Iterator[Change]:
        """Yield a change for each account; with `run.writes` it is written first."""
        call = self._call()
        seen = set()
        for number, wanted in enumerate(self.stated.accounts or ()):
            path = (*self.path, "accounts", number)
            edits = self._edits(call, wanted, path)
            held = None if self.is_new else self._find(call, wanted, path)
            if held is None:
                yield self._add(call, wanted, edits)
            else:
                seen.add(held.uid)
                yield self._change(call, held, wanted, edits)
        if self.run.prune and not self.is_new:
            named = {wanted.label for wanted in self.stated.accounts or ()}
            yield from self._remove(call, seen, named)
        if self.run.writes:
            call.ledger.write(call.work)

    def _call(self) -> Call:
        work = self.run.work
        tenant = Tenant(work.tenant_id, self.stated.name, "", b"", 0, self.settings, Brand())
        house = self.run.house
        posts = Outbox(work, house.clock, house.vault)
        return Call(house, tenant, work, Ledger(house.clock), posts, RawRequest("", "", "", {}, b""))

    def _edits(self, call: Call, wanted: AccountFile, path: Path) -> Edits:
        """Read the free fields as the interface reads them."""
        fields = self.settings.custom_fields
        try:
            return editing.read(_free(wanted), _WRITERS, clears=False, custom_fields=fields, today=call.now.date())
        except ApiError as refusal:
            self.run.refuse(path, f"expected another value: {refusal.description}")

    def _find(self, call: Call, wanted: AccountFile, path: Path) -> Account | None:
        found = {}
        for kind, value in _named(wanted):
            account = store.by_identifier(call, kind, identifiers.normal(kind, value))
            if account is not None:
                found[account.uid] = account
        if len(found) > 1:
            self.run.refuse(path, "expected one account; its email, username and phone belong to several")
        held = next(iter(found.values()), None)
        for kind, value in _named(wanted) if held is not None else ():
            stands = getattr(held, kind)
            if stands is not None and identifiers.normal(kind, stands) != identifiers.normal(kind, value):
                self.run.refuse((*path, kind), f"expected {stands}: what names an account is not overwritten")
        return held

    def _add(self, call: Call, wanted: AccountFile, edits: Edits) -> Change:
        if self.run.writes:
            uid = randomness.uid()
            profile = edits.apply({"RegistrationSource": "API"})
            store.add(call, {**self._row(call, uid, wanted), "profile": profile}, _held(wanted))
            call.ledger.record("account.created", uid=uid, source="file")
        return Change(Action.CREATE, self.stated.name, "account", wanted.label)

    def _row(self, call: Call, uid: str, wanted: AccountFile) -> dict[str, Any]:
        email = identifiers.shown_email(wanted.email) if wanted.email else None
        hashed = self.run.hashes.get((self.stated.name, wanted.label))
        if wanted.password and hashed is None:  # it came between the plan and the transaction
            hashed = self.run.house.hashing.hash(wanted.password, call.tenant.settings.argon2)
        return {
            "uid": uid,
            "profile_id": randomness.uid(),
            "password_hash": hashed,
            "password_changed_at": call.now if hashed else None,
            "email": email,
            "username": identifiers.normal_username(wanted.username) if wanted.username else None,
            "phone": identifiers.normal_phone(wanted.phone) if wanted.phone else None,
            "emails": [{"Type": "Primary", "Value": email}] if email else [],
            **{name: getattr(wanted, name) for name in _SWITCHES},
            "private": {from_file.MARK: True},
            "created_at": call.now,
            "modified_at": call.now,
            "profile_modified_at": call.now,
        }

    def _change(self, call: Call, held: Account, wanted: AccountFile, edits: Edits) -> Change:
        before = {name: getattr(held, name) for name in _SWITCHES if name in wanted.model_fields_set}
        after = {name: getattr(wanted, name) for name in before}
        profile = edits.apply(held.profile)
        details = [*differences(before, after), *differences(held.profile, profile)]
        values: dict[str, Any] = {**after, "profile": profile}
        if held.password_hash is None and wanted.password:
            details.append("password: given, because there is none")
            values |= {
                "password_hash": self._row(call, held.uid, wanted)["password_hash"],
                "password_changed_at": call.now,
            }
        fresh = [(kind, value) for kind, value in _named(wanted) if getattr(held, kind) is None]
        details += [f"{kind}: default -> {value}" for kind, value in fresh]
        if details and self.run.writes:
            self._write(call, held, wanted, values, fresh)
        return Change(
            Action.CHANGE if details else Action.UNCHANGED, self.stated.name, "account", wanted.label, tuple(details)
        )

    def _write(
        self, call: Call, held: Account, wanted: AccountFile, values: dict[str, Any], fresh: list[tuple[str, str]]
    ) -> None:
        row = self._row(call, held.uid, wanted)
        values |= {kind: row[kind] for kind, _ in fresh}
        if any(kind == identifiers.EMAIL for kind, _ in fresh):
            values["emails"] = [*row["emails"], *held.emails]
        store.hold(call, held.uid, [one for one in _held(wanted) if one[0] in {kind for kind, _ in fresh}])
        for kind in (identifiers.EMAIL, identifiers.PHONE):
            stands = getattr(held, kind) or row[kind]
            if f"{kind}_verified" in values and stands:
                store.verify(call, held.uid, kind, identifiers.normal(kind, stands), values[f"{kind}_verified"])
        after = store.change(call, held.uid, values) or held
        call.ledger.record("account.changed", uid=held.uid, source="file")
        notices.tell_changes(call, held, after)
        if "password_hash" in values:
            sessions.end_all(call, held.uid)
            tokens.revoke_all(call, held.uid)
            renewal.follow(call, after, "file")

    def _remove(self, call: Call, seen: set[str], named: set[str]) -> Iterator[Change]:
        for left in from_file.marked(call.work):
            label = left.email or left.username or left.phone or left.uid
            if left.uid in seen or label in named:
                continue
            if self.run.writes:
                removal.rows_of_account(call.work, left.uid)
                call.ledger.record("account.removed", uid=left.uid, source="file")
            yield Change(Action.REMOVE, self.stated.name, "account", label)


def _named(wanted: AccountFile) -> list[tuple[str, str]]:
    return [(kind, value) for kind in KINDS if (value := getattr(wanted, kind))]


def _held(wanted: AccountFile) -> list[tuple[str, str, bool]]:
    """Return the identifiers to hold; a username is never in doubt."""
    return [
        (kind, identifiers.normal(kind, value), bool(getattr(wanted, f"{kind}_verified", True)))
        for kind, value in _named(wanted)
    ]


def _free(wanted: AccountFile) -> dict[str, Any]:
    return {member: getattr(wanted, key) for key, member in FREE.items() if key in wanted.model_fields_set}
