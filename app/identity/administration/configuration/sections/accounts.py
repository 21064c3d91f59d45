"""The accounts of a configuration file. A key in the file overwrites the account's value; an absent key leaves it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.contract.accounts.file import AccountFile
from app.contract.profile import Write
from app.identity.administration.configuration.file.yaml_document import KeyPath
from app.identity.administration.configuration.plan import ChangeAction, NewPassword, changed_values
from app.identity.administration.configuration.sections.section import ItemSection
from app.identity.authentication.recovery import new_password
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import notifications
from app.identity.directory.accounts import account_store, assigned_roles, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.accounts.profile.profile_edits import Edits
from app.identity.platform.context import Context
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
_AT_ONCE = 1_000
Identifier = tuple[str, str]
"""The kind and the normalized value."""
_SWITCHES = ("email_verified", "phone_verified", "is_active")


@dataclass
class AccountSection(ItemSection):
    """The accounts of one tenant. `known_roles`: the names of its roles after the run."""

    known_roles: Set[str]

    def plan(self) -> None:
        if self.declared.accounts is None:
            return
        requested = [identifier for account in self.declared.accounts for identifier in _identifiers(account)]
        stored, seen = stored_accounts(self.context, requested), set()
        for number, account in enumerate(self.declared.accounts):
            path = (*self.path, "accounts", number)
            self._check_roles(account, path)
            edits = self._edits(account, path)
            with self.collecting_problems():
                stored_account = self._match(stored, account, path)
                if stored_account is None:
                    self._create(account, edits, path)
                else:
                    seen.add(stored_account.uid)
                    self._change(stored_account, account, edits, path)
        if self.run.prune:
            self._remove(seen, {item.label for item in self.declared.accounts})

    def _edits(self, declared: AccountFile, path: KeyPath) -> Edits:
        """Read the free fields by the rules of the API; without edits if these refuse a field."""
        fields = self.context.tenant.settings.custom_fields
        try:
            return profile_edits.read(
                _free(declared), _WRITERS, clears=False, custom_fields=fields, today=self.context.now.date()
            )
        except ApiError as refusal:
            self.add_problem(path, f"expected another value: {refusal.description}")
            return Edits()

    def _check_roles(self, declared: AccountFile, path: KeyPath) -> None:
        for number, name in enumerate(declared.roles):
            if name not in self.known_roles:
                self.add_problem(
                    (*path, "roles", number), f"expected the name of a role of this tenant; found {name!r}"
                )

    def _match(self, stored: Mapping[Identifier, Account], declared: AccountFile, path: KeyPath) -> Account | None:
        requested = _identifiers(declared)
        found = {account.uid: account for item in requested if (account := stored.get(item)) is not None}
        if len(found) > 1:
            self.refuse(path, "expected one account; this email, username and phone belong to different ones")
        account = next(iter(found.values()), None)
        for kind, normalized in requested if account is not None else ():
            value = getattr(account, kind)
            if value is not None and identifiers.normalize(kind, value) != normalized:
                self.add_problem((*path, kind), f"expected {value}; a file can't change an account's {kind}")
        return account

    def _create(self, declared: AccountFile, edits: Edits, path: KeyPath) -> None:
        self._plan_password(declared, path)
        write = partial(self._add, declared, edits, path)
        self.note(ChangeAction.CREATE, _KIND, declared.label, write=write, path=path)

    def _plan_password(self, declared: AccountFile, path: KeyPath) -> None:
        if declared.password:
            parameters = self.context.tenant.settings.argon2
            self.planned.passwords[path] = NewPassword(declared.password, parameters)

    def _add(self, declared: AccountFile, edits: Edits, path: KeyPath) -> None:
        uid = randomness.uid()
        profile = edits.apply({"RegistrationSource": "API"})
        row = {**self._row(uid, declared), **self._password_columns(path), "profile": profile}
        account_store.add(self.context, row, _held(declared))
        assigned_roles.assign(self.work, uid, {EVERYWHERE: set(declared.roles)})
        self.context.audit.record("account.created", uid=uid, source="file")

    def _password_columns(self, path: KeyPath) -> dict[str, Any]:
        new = self.planned.passwords.get(path)
        if new is None:
            return {"password_hash": None, "password_changed_at": None}
        hashed = self.run.hashes.get(path)
        if hashed is None:  # the account changed after the plan, which needed no hash
            hashed = self.run.services.hashing.hash(new.password, new.parameters)
        return {"password_hash": hashed, "password_changed_at": self.context.now}

    def _row(self, uid: str, declared: AccountFile) -> dict[str, Any]:
        now = self.context.now
        return {
            "uid": uid,
            "profile_id": randomness.uid(),
            "username": identifiers.normalize_username(declared.username) if declared.username else None,
            "phone": identifiers.normalize_phone(declared.phone) if declared.phone else None,
            **{name: getattr(declared, name) for name in _SWITCHES},
            **_emails(declared).columns(),
            "private": {account_store.FROM_FILE: True},
            "created_at": now,
            "modified_at": now,
            "profile_modified_at": now,
        }

    def _change(self, stored: Account, declared: AccountFile, edits: Edits, path: KeyPath) -> None:
        before = {name: getattr(stored, name) for name in _SWITCHES if name in declared.model_fields_set}
        after = {name: getattr(declared, name) for name in before}
        profile = edits.apply(stored.profile)
        details = [*changed_values(before, after), *changed_values(stored.profile, profile)]
        if stored.password_hash is None and declared.password:
            self._plan_password(declared, path)
            details.append("password: set, because the account has none")
        fresh = {kind: value for kind, value in _named(declared) if getattr(stored, kind) is None}
        details += [f"{kind}: default -> {value}" for kind, value in fresh.items()]
        if "roles" in declared.model_fields_set:
            details += changed_values({"roles": stored.roles}, {"roles": sorted(set(declared.roles))})
        write = partial(self._write, stored, declared, {**after, "profile": profile}, fresh, path)
        self.note_change(_KIND, declared.label, details, write=write, path=path)

    def _write(
        self, stored: Account, declared: AccountFile, values: dict[str, Any], fresh: Collection[str], path: KeyPath
    ) -> None:
        context, row = self.context, self._row(stored.uid, declared)
        values |= {kind: row[kind] for kind in fresh}
        if path in self.planned.passwords:
            values |= self._password_columns(path)
        values |= self._write_emails(stored, declared)
        held = [item for item in _held(declared) if item[0] in fresh and item[0] != identifiers.EMAIL]
        account_store.add_identifiers(context, stored.uid, held)
        phone = stored.phone or row["phone"]
        if "phone_verified" in values and phone:
            account_store.set_verified(context, stored.uid, identifiers.PHONE, phone, values["phone_verified"])
        after = account_store.change(context, stored.uid, values) or stored
        if "roles" in declared.model_fields_set:
            assigned_roles.clear(context.work, stored.uid, [EVERYWHERE])
            assigned_roles.assign(context.work, stored.uid, {EVERYWHERE: set(declared.roles)})
        context.audit.record("account.changed", uid=stored.uid, source="file")
        notifications.notify_profile_changes(context, stored, after)
        if "password_hash" in values:
            end_sessions_and_tokens(context, after)
            new_password.after_change(context, after, "file")

    def _write_emails(self, stored: Account, declared: AccountFile) -> dict[str, Any]:
        """Write the identifiers of the addresses that the file adds or verifies; return the changed columns."""
        before = after = stored.email_list
        if stored.email is None:
            added = _emails(declared)
            after = EmailList((*added, *(item for item in before if item.normalized not in added.forms)), added.primary)
        if "email_verified" in declared.model_fields_set:
            after = after.with_primary_verified(is_verified=declared.email_verified)
        if after == before:
            return {}
        account_store.change_email_identifiers(self.context, stored.uid, before, after)
        return after.changes_since(before)

    def _remove(self, seen: set[str], named: set[str]) -> None:
        """Plan the removal of the accounts that an earlier file created and this one does not list."""
        for left in account_store.accounts_from_file(self.work):
            label = left.email or left.username or left.phone or left.uid
            if left.uid not in seen and label not in named:
                self.note(ChangeAction.REMOVE, _KIND, label, write=partial(self._delete, left.uid))

    def _delete(self, uid: str) -> None:
        removal.delete_account_rows(self.work, uid)
        self.context.audit.record("account.removed", uid=uid, source="file")


def stored_accounts(context: Context, requested: Iterable[Identifier]) -> dict[Identifier, Account]:
    """Return the stored accounts by identifier, in two statements for up to a thousand identifiers of a kind."""
    by_kind: dict[str, set[str]] = {}
    for kind, normalized in requested:
        by_kind.setdefault(kind, set()).add(normalized)
    accounts_by_identifier: dict[Identifier, Account] = {}
    for kind, forms in by_kind.items():
        ordered = sorted(forms)
        for first in range(0, len(ordered), _AT_ONCE):
            accounts = account_store.by_identifiers(context, kind, ordered[first : first + _AT_ONCE])
            accounts_by_identifier |= {(kind, normalized): account for normalized, account in accounts.items()}
    return accounts_by_identifier


def _emails(declared: AccountFile) -> EmailList:
    """Return the addresses of a new account."""
    if not declared.email:
        return EmailList()
    return EmailList.single(identifiers.display_email(declared.email), is_verified=declared.email_verified)


def _named(declared: AccountFile) -> list[tuple[str, str]]:
    return [(kind, value) for kind in KINDS if (value := getattr(declared, kind))]


def _identifiers(declared: AccountFile) -> list[Identifier]:
    return [(kind, identifiers.normalize(kind, value)) for kind, value in _named(declared)]


def _held(declared: AccountFile) -> list[tuple[str, str, bool]]:
    """Return (kind, value, is_verified) of each identifier; a username needs no verification."""
    return [
        (kind, normalized, bool(getattr(declared, f"{kind}_verified", True)))
        for kind, normalized in _identifiers(declared)
    ]


def _free(declared: AccountFile) -> dict[str, Any]:
    return {member: getattr(declared, key) for key, member in FREE.items() if key in declared.model_fields_set}
