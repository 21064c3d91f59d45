"""The accounts of a configuration file. A key in the file overwrites the account's value; an absent key leaves it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.contract.accounts.file import AccountFile
from app.contract.profile import Write
from app.identity.administration.configuration.file.document import Path
from app.identity.administration.configuration.plan import ChangeAction, differences
from app.identity.administration.configuration.sections.section import FileSection
from app.identity.authentication.recovery import new_password
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import notifications
from app.identity.directory.accounts import assigned_roles, identifiers
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.accounts.profile import edits as profile_edits
from app.identity.directory.accounts.profile.edits import Edits
from app.identity.platform.store import removal
from app.kit import randomness
from app.kit.operations.errors import ApiError

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
"""The file's keys, and the members of the API that they set."""
_WRITERS = frozenset({Write.ANYONE, Write.REGISTRATION})
_KIND = "account"
_SWITCHES = ("email_verified", "phone_verified", "is_active")


@dataclass
class AccountSection(FileSection):
    """The accounts of one tenant. `known_roles`: the names of its roles after the run."""

    known_roles: Set[str]

    def plan(self) -> None:
        if self.declared.accounts is None:
            return
        seen = set()
        for number, account in enumerate(self.declared.accounts):
            path = (*self.path, "accounts", number)
            edits = self._edits(account, path)
            self._refuse_unknown_roles(account, path)
            stored = self._find(account, path)
            if stored is None:
                write = partial(self._add, account, edits)
                self.note(ChangeAction.CREATE, _KIND, account.label, write=write)
            else:
                seen.add(stored.uid)
                self._change(stored, account, edits)
        if self.run.prune:
            self._remove(seen, {item.label for item in self.declared.accounts})

    def _edits(self, declared: AccountFile, path: Path) -> Edits:
        """Read the free fields by the rules of the API."""
        fields = self.context.tenant.settings.custom_fields
        try:
            return profile_edits.read(
                _free(declared), _WRITERS, clears=False, custom_fields=fields, today=self.context.now.date()
            )
        except ApiError as refusal:
            self.run.refuse(path, f"expected another value: {refusal.description}")

    def _refuse_unknown_roles(self, declared: AccountFile, path: Path) -> None:
        for number, name in enumerate(declared.roles):
            if name not in self.known_roles:
                self.run.refuse((*path, "roles", number), f"expected the name of a role of this tenant; found {name!r}")

    def _find(self, declared: AccountFile, path: Path) -> Account | None:
        found = {}
        for kind, value in _named(declared):
            account = account_store.by_identifier(self.context, kind, identifiers.normalize(kind, value))
            if account is not None:
                found[account.uid] = account
        if len(found) > 1:
            self.run.refuse(path, "expected one account; this email, username and phone belong to different ones")
        stored = next(iter(found.values()), None)
        for kind, value in _named(declared) if stored is not None else ():
            stands = getattr(stored, kind)
            if stands is not None and identifiers.normalize(kind, stands) != identifiers.normalize(kind, value):
                self.run.refuse((*path, kind), f"expected {stands}; a file can't change an account's {kind}")
        return stored

    def _add(self, declared: AccountFile, edits: Edits) -> None:
        uid = randomness.uid()
        profile = edits.apply({"RegistrationSource": "API"})
        account_store.add(self.context, {**self._row(uid, declared), "profile": profile}, _held(declared))
        assigned_roles.assign(self.work, uid, {EVERYWHERE: set(declared.roles)})
        self.context.audit.record("account.created", uid=uid, source="file")

    def _row(self, uid: str, declared: AccountFile) -> dict[str, Any]:
        now = self.context.now
        email = identifiers.display_email(declared.email) if declared.email else None
        hashed = self.run.hashes.get((self.declared.name, declared.label))
        if declared.password and hashed is None:  # the account changed after the plan, which needed no hash
            hashed = self.run.services.hashing.hash(declared.password, self.context.tenant.settings.argon2)
        return {
            "uid": uid,
            "profile_id": randomness.uid(),
            "password_hash": hashed,
            "password_changed_at": now if hashed else None,
            "email": email,
            "username": identifiers.normalize_username(declared.username) if declared.username else None,
            "phone": identifiers.normalize_phone(declared.phone) if declared.phone else None,
            "emails": [{"Type": "Primary", "Value": email}] if email else [],
            **{name: getattr(declared, name) for name in _SWITCHES},
            "private": {account_store.FROM_FILE: True},
            "created_at": now,
            "modified_at": now,
            "profile_modified_at": now,
        }

    def _change(self, stored: Account, declared: AccountFile, edits: Edits) -> None:
        before = {name: getattr(stored, name) for name in _SWITCHES if name in declared.model_fields_set}
        after = {name: getattr(declared, name) for name in before}
        profile = edits.apply(stored.profile)
        details = [*differences(before, after), *differences(stored.profile, profile)]
        values: dict[str, Any] = {**after, "profile": profile}
        if stored.password_hash is None and declared.password:
            details.append("password: set, because the account has none")
        fresh = [(kind, value) for kind, value in _named(declared) if getattr(stored, kind) is None]
        details += [f"{kind}: default -> {value}" for kind, value in fresh]
        if "roles" in declared.model_fields_set:
            details += differences({"roles": stored.roles}, {"roles": sorted(set(declared.roles))})
        self.note_change(_KIND, declared.label, details, write=partial(self._write, stored, declared, values, fresh))

    def _write(
        self, stored: Account, declared: AccountFile, values: dict[str, Any], fresh: list[tuple[str, str]]
    ) -> None:
        context, row = self.context, self._row(stored.uid, declared)
        values |= {kind: row[kind] for kind, _ in fresh}
        if stored.password_hash is None and declared.password:
            values |= {name: row[name] for name in ("password_hash", "password_changed_at")}
        if any(kind == identifiers.EMAIL for kind, _ in fresh):
            values["emails"] = [*row["emails"], *stored.emails]
        account_store.add_identifiers(
            context, stored.uid, [item for item in _held(declared) if item[0] in {kind for kind, _ in fresh}]
        )
        for kind in (identifiers.EMAIL, identifiers.PHONE):
            stands = getattr(stored, kind) or row[kind]
            if f"{kind}_verified" in values and stands:
                account_store.set_verified(
                    context, stored.uid, kind, identifiers.normalize(kind, stands), values[f"{kind}_verified"]
                )
        after = account_store.change(context, stored.uid, values) or stored
        if "roles" in declared.model_fields_set:
            assigned_roles.clear(context.work, stored.uid, [EVERYWHERE])
            assigned_roles.assign(context.work, stored.uid, {EVERYWHERE: set(declared.roles)})
        context.audit.record("account.changed", uid=stored.uid, source="file")
        notifications.notify_profile_changes(context, stored, after)
        if "password_hash" in values:
            end_sessions_and_tokens(context, after)
            new_password.after_change(context, after, "file")

    def _remove(self, seen: set[str], named: set[str]) -> None:
        """Plan the removal of the accounts that an earlier file created and this one does not list."""
        for left in account_store.accounts_from_file(self.work):
            label = left.email or left.username or left.phone or left.uid
            if left.uid not in seen and label not in named:
                self.note(ChangeAction.REMOVE, _KIND, label, write=partial(self._delete, left.uid))

    def _delete(self, uid: str) -> None:
        removal.delete_account_rows(self.work, uid)
        self.context.audit.record("account.removed", uid=uid, source="file")


def _named(declared: AccountFile) -> list[tuple[str, str]]:
    return [(kind, value) for kind in KINDS if (value := getattr(declared, kind))]


def _held(declared: AccountFile) -> list[tuple[str, str, bool]]:
    """Return (kind, value, is_verified) of each identifier; a username needs no verification."""
    return [
        (kind, identifiers.normalize(kind, value), bool(getattr(declared, f"{kind}_verified", True)))
        for kind, value in _named(declared)
    ]


def _free(declared: AccountFile) -> dict[str, Any]:
    return {member: getattr(declared, key) for key, member in FREE.items() if key in declared.model_fields_set}
