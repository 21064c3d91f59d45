"""Writes one imported account: finds the account that it is, and creates or updates it. All checks come before the first write."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from app.contract.account_import import ImportedAccount, ImportedIdentity, ImportedMembership, totp_secret_bytes
from app.contract.operations import taken_uids
from app.contract.profile import Write
from app.contract.second_factors.challenge import FactorKind
from app.identity.administration.account_import.records import Refused
from app.identity.administration.configuration.accounts import FREE
from app.identity.credentials import store as credentials
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts import (
    assigned_roles,
    identifiers,
    linked_identities,
    pending_accounts,
    profile_edits,
    store,
)
from app.identity.directory.accounts.account import IDENTITIES, Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.organizations import memberships, names, role_store
from app.identity.directory.organizations import store as organizations
from app.identity.directory.organizations.organization import Organization
from app.identity.directory.roles import store as roles
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.errors import ApiError

IMPORTED: Final = "imported"
"""The key in `private` of imported accounts: the digest of the password hash, which tells whether the password is still that."""
KINDS: Final = (identifiers.EMAIL, identifiers.USERNAME, identifiers.PHONE)
_FIRST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_CLOCKS_DIFFER: Final = timedelta(days=1)
_WRITERS: Final = frozenset({Write.ANYONE, Write.REGISTRATION})


@dataclass
class AccountWriter:
    """Writes accounts of one batch."""

    context: Context
    _organizations: dict[str, Organization | None] = field(default_factory=dict)

    def write(self, wanted: ImportedAccount) -> tuple[str, tuple[str, ...]]:
        """Create or update the account; return the outcome and what to say about it.

        Raises:
            Refused: the record contradicts the tenant's configuration, or names accounts of several people.
            IdentifierTaken, IntegrityError, ApiError: it collides with another record; the transaction must be rolled back.
        """
        forms = _forms(wanted)
        self._check(wanted)
        joins = [(self._organization(one), self._role_ids(one)) for one in wanted.organizations]
        profile = self._profile_edits(wanted)
        held = self._find(wanted, forms)
        if held is None:
            account = self._add(wanted, forms, profile)
            outcome: tuple[str, tuple[str, ...]] = ("created", ())
        elif not _is_untouched(held):
            return "kept", ("kept the account that is in use here",)
        else:
            account, has_changed = self._update(held, wanted, forms, profile)
            outcome = ("updated" if has_changed else "unchanged", ())
        for organization, role_ids in joins:
            if memberships.join(self.context, account, organization, role_ids) and outcome[0] == "unchanged":
                outcome = ("updated", ())
        return outcome

    def _check(self, wanted: ImportedAccount) -> None:
        settings = self.context.tenant.settings
        if wanted.password_hash is not None:
            try:
                imported_hashes.check(wanted.password_hash)
            except imported_hashes.UnusableHash as problem:
                raise Refused(f"password_hash: {problem}") from None
        self._check_times(wanted)
        if wanted.uid is not None:
            if not settings.custom_uid:
                raise Refused("uid: expected none, or the tenant's setting custom_uid: true, which keeps account ids")
            if not identifiers.is_allowed_uid(wanted.uid) or wanted.uid.lower() in taken_uids():
                raise Refused("uid: expected 1 to 50 letters, digits, hyphens and underscores")
        for one in wanted.identities:
            if one.connection not in settings.connections:
                raise Refused(f"identities: expected a connection of the tenant; found {one.connection!r}")
        for name in wanted.roles:
            if name not in self._known_roles:
                raise Refused(f"roles: expected the name of a role of this tenant; found {name!r}")

    def _check_times(self, wanted: ImportedAccount) -> None:
        """Refuse times to come: codes and links from before a change of the password would never be valid."""
        for key in ("created_at", "password_changed_at"):
            instant = getattr(wanted, key)
            if instant is not None and not _FIRST <= instant <= self.context.now + _CLOCKS_DIFFER:
                raise Refused(f"{key}: expected a time from 1970 to now")

    @cached_property
    def _known_roles(self) -> frozenset[str]:
        return frozenset(role.name for role in roles.all_roles(self.context.work))

    def _organization(self, wanted: ImportedMembership) -> Organization:
        if wanted.name not in self._organizations:
            self._organizations[wanted.name] = organizations.by_name(self.context, wanted.name)
        found = self._organizations[wanted.name]
        if found is None or not found.is_active:
            raise Refused(f"organizations: expected an active organization of this tenant; found {wanted.name!r}")
        return found

    def _role_ids(self, wanted: ImportedMembership) -> list[str]:
        organization = self._organization(wanted)
        if not wanted.roles:
            if not (default := memberships.default_role_ids(self.context, organization)):
                raise Refused(f"organizations: expected roles; {wanted.name} has no role for new members")
            return default
        known = {
            names.key_of(one.name): one.role_id for one in role_store.roles(self.context, ["", organization.org_id])
        }
        unknown = [name for name in wanted.roles if names.key_of(name) not in known]
        if unknown:
            raise Refused(f"organizations: expected a role of {wanted.name}; found {unknown[0]!r}")
        return [known[names.key_of(name)] for name in wanted.roles]

    def _profile_edits(self, wanted: ImportedAccount) -> profile_edits.Edits:
        given = {member: getattr(wanted, key) for key, member in FREE.items() if key in wanted.model_fields_set}
        if wanted.external_id is not None:
            given["ExternalUserLoginId"] = wanted.external_id
        fields = self.context.tenant.settings.custom_fields
        today = self.context.now.date()
        try:
            return profile_edits.read(given, _WRITERS, clears=False, custom_fields=fields, today=today)
        except ApiError as refusal:
            raise Refused(f"expected another value: {refusal.description}") from None

    def _find(self, wanted: ImportedAccount, forms: dict[str, str]) -> Account | None:
        """Return the account that the record is; one that gives way to a verified address is removed."""
        found = self._accounts_of(wanted, forms)
        for uid, one in list(found.items()):
            if IMPORTED not in one.private and _is_verified(wanted) and pending_accounts.is_replaceable(one):
                pending_accounts.remove_replaceable(self.context, one, wanted.uid or "import")
                del found[uid]
        if len(found) > 1:
            those = " and ".join(map(_described, found.values()))
            raise Refused(
                f"expected one account; its ID, email, username, phone and identities belong to {len(found)}: {those}"
            )
        held = next(iter(found.values()), None)
        if held is not None and store.lock(self.context, held.uid):  # against a sign-in at the same time
            held = store.by_uid(self.context, held.uid)
        if held is not None:
            _refuse_another_person(held, wanted)
        return held

    def _accounts_of(self, wanted: ImportedAccount, forms: dict[str, str]) -> dict[str, Account]:
        """Return the accounts that have one of the record's identifiers, by their ids."""
        context = self.context
        held = [store.by_uid(context, wanted.uid)] if wanted.uid else []
        held += [store.by_identifier(context, kind, form) for kind, form in forms.items()]
        held += [linked_identities.find_account(context, one.connection, one.id) for one in wanted.identities]
        return {one.uid: one for one in held if one is not None}

    def _add(self, wanted: ImportedAccount, forms: dict[str, str], edits: profile_edits.Edits) -> Account:
        context = self.context
        uid = wanted.uid or randomness.uid()
        private = {IMPORTED: _digest(wanted.password_hash)}
        if wanted.uid:
            private["is_custom_uid"] = True  # type: ignore[assignment] # a document of any values
        if wanted.identities:
            private[IDENTITIES] = [self._identity(one) for one in wanted.identities]  # type: ignore[assignment] # as above
        row = {
            "uid": uid,
            "profile_id": randomness.uid(),
            "is_active": wanted.is_active,
            "profile": edits.apply({"RegistrationSource": "API"}),
            "private": private,
            "created_at": min(wanted.created_at or context.now, context.now),
            "modified_at": context.now,
            "profile_modified_at": context.now,
            "emails": [],
            "email_verified": False,
            "phone_verified": False,
            **self._columns(wanted, forms, emails=()),
        }
        account = store.add(
            context, row, [(kind, form, _is_verified_kind(wanted, kind)) for kind, form in forms.items()]
        )
        assigned_roles.assign(context.work, uid, {EVERYWHERE: set(wanted.roles)})
        self._close_registrations(wanted, forms)
        if wanted.totp_secret:
            self._set_totp(account, wanted.totp_secret)
        context.audit.record("account.created", uid=uid, source="import")
        return account

    def _columns(self, wanted: ImportedAccount, forms: dict[str, str], emails: Any) -> dict[str, Any]:
        """Return the columns that the record names."""
        columns: dict[str, Any] = {}
        if wanted.email:
            shown = identifiers.display_email(wanted.email)
            entry = {"Type": "Primary", "Value": shown, **({"verified": True} if wanted.email_verified else {})}
            columns |= {"email": shown, "email_verified": wanted.email_verified}
            columns["emails"] = [entry, *(one for one in emails if one.get("Type") != "Primary")]
        if wanted.phone:
            columns |= {"phone": forms[identifiers.PHONE], "phone_verified": wanted.phone_verified}
        if wanted.username:
            columns["username"] = forms[identifiers.USERNAME]
        if wanted.password_hash:
            changed_at = min(wanted.password_changed_at or self.context.now, self.context.now)
            columns |= {"password_hash": wanted.password_hash, "password_changed_at": changed_at}
        return columns

    def _update(
        self, held: Account, wanted: ImportedAccount, forms: dict[str, str], edits: profile_edits.Edits
    ) -> tuple[Account, bool]:
        """Bring an untouched account to what the record names; keys that it does not name stay."""
        context = self.context
        values = self._columns(wanted, forms, held.emails)
        if wanted.password_hash == held.password_hash and wanted.password_changed_at is None:
            values.pop("password_changed_at", None)
        if "is_active" in wanted.model_fields_set:
            values["is_active"] = wanted.is_active
        linked = [*(held.private.get(IDENTITIES) or ())]
        fresh = [
            one
            for one in wanted.identities
            if (one.connection, one.id) not in {(e["provider"], e["subject"]) for e in linked}
        ]
        hashed = values.get("password_hash", held.password_hash)
        private = {**held.private, IMPORTED: _digest(hashed)}
        if fresh:
            private[IDENTITIES] = [*linked, *(self._identity(one) for one in fresh)]
        values |= {"private": private, "profile": edits.apply(held.profile)}
        changed = {name: value for name, value in values.items() if getattr(held, name) != value}
        has_roles = "roles" in wanted.model_fields_set and sorted(set(wanted.roles)) != (held.roles or [])
        has_totp = bool(wanted.totp_secret) and self._set_totp(held, wanted.totp_secret or "")
        if not (changed or has_roles or has_totp):
            return held, False
        account = store.change(context, held.uid, changed) or held
        self._write_identifiers(held, wanted, forms, fresh)
        if has_roles:
            assigned_roles.clear(context.work, held.uid, [EVERYWHERE])
            assigned_roles.assign(context.work, held.uid, {EVERYWHERE: set(wanted.roles)})
        context.audit.record("account.changed", uid=held.uid, source="import")
        return account, True

    def _write_identifiers(
        self, held: Account, wanted: ImportedAccount, forms: dict[str, str], fresh: list[ImportedIdentity]
    ) -> None:
        for kind, form in forms.items():
            stands = getattr(held, kind)
            if stands is not None and identifiers.normalize(kind, stands) == form:
                store.set_verified(self.context, held.uid, kind, form, _is_verified_kind(wanted, kind))
                continue
            store.remove_identifiers(self.context, held.uid, kind)
            store.add_identifiers(self.context, held.uid, [(kind, form, _is_verified_kind(wanted, kind))])
        linked = [(identifiers.IDENTITY, identifiers.identity_value(one.connection, one.id), True) for one in fresh]
        store.add_identifiers(self.context, held.uid, linked)
        self._close_registrations(wanted, forms)

    def _close_registrations(self, wanted: ImportedAccount, forms: dict[str, str]) -> None:
        """Remove open registrations with an address or number that the record says is verified."""
        for kind in (identifiers.EMAIL, identifiers.PHONE):
            if kind in forms and _is_verified_kind(wanted, kind):
                pending_accounts.remove_pending(self.context, forms[kind])

    def _identity(self, one: ImportedIdentity) -> dict[str, Any]:
        linked_at = iso(self.context.now)
        return {
            "provider": one.connection, "subject": one.id, "email": one.email, "name": one.name, "picture": None,
            "linked_at": linked_at, "used_at": None, "profile": {},
        }  # fmt: skip

    def _set_totp(self, account: Account, secret: str) -> bool:
        """Enrol the authenticator app; return whether the account had another one or none."""
        seed = totp_secret_bytes(secret)
        held = [one for one in credentials.by_kind(self.context, account.uid, FactorKind.TOTP) if one.is_enrolled]
        if any(credentials.decrypt_secret(self.context, one) == seed for one in held):
            return False
        credentials.remove(self.context, account.uid, (FactorKind.TOTP,))
        credentials.add(self.context, account.uid, FactorKind.TOTP, secret=seed, is_enrolled=True)
        return True


def _forms(wanted: ImportedAccount) -> dict[str, str]:
    """Return the normal form of each identifier. Raises Refused."""
    forms = {}
    for kind in KINDS:
        if text := getattr(wanted, kind):
            form = identifiers.normal_form(kind, text)
            if form is None:
                raise Refused(f"{kind}: expected a valid {kind}")
            forms[kind] = form
    return forms


def _digest(password_hash: str | None) -> str:
    return randomness.digest(password_hash or "")


def _is_untouched(held: Account) -> bool:
    """Return whether an import created the account, and its owner has neither signed in nor set a password here."""
    return (
        held.private.get(IMPORTED) == _digest(held.password_hash) and held.last_login_at is None and not held.is_deleted
    )


def _is_verified(wanted: ImportedAccount) -> bool:
    return wanted.email_verified or wanted.phone_verified


def _is_verified_kind(wanted: ImportedAccount, kind: str) -> bool:
    return kind == identifiers.USERNAME or bool(getattr(wanted, f"{kind}_verified"))


def _refuse_another_person(held: Account, wanted: ImportedAccount) -> None:
    """Raise Refused where the account has another id than the record, here or at the other system.

    Two people would become one otherwise, and applications know each by its id.
    """
    ids = ((held.uid, wanted.uid), (held.profile.get("ExternalUserLoginId"), wanted.external_id))
    for known, stated in ids:
        if known and stated and known != stated:
            raise Refused(
                f"expected an email, username, phone and identities of its own; {_described(held)} has one of them, and "
                f"the ID of this record is {stated}"
            )


def _described(held: Account) -> str:
    """Return an account as an operator finds it at the other system."""
    named = held.email or held.username or held.phone or "an account without a name"
    return f"{named} (ID {held.profile.get('ExternalUserLoginId') or held.uid})"
