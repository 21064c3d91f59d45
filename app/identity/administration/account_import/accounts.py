"""Writes one imported account: finds the account that it is, and creates or updates it. All checks come before the first write."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, Final

from app.contract.accounts.import_file import ImportedAccount, ImportedIdentity, ImportedMembership, totp_secret_bytes
from app.contract.catalogue import taken_uids
from app.contract.profile import Write
from app.contract.second_factors.challenge import FactorKind
from app.identity.administration.account_import.import_record import RecordRefused
from app.identity.administration.configuration.sections.accounts import FREE
from app.identity.credentials import credential_store
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts import account_store, assigned_roles, identifiers, linked_identities
from app.identity.directory.accounts.account import IDENTITIES, Account
from app.identity.directory.accounts.assigned_roles import EVERYWHERE
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.directory.organizations import organization_names, organization_store
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.roles import tenant_role_store
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

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
    _organizations: dict[str, OrganizationRecord | None] = field(default_factory=dict)

    def write(self, imported: ImportedAccount) -> tuple[str, tuple[str, ...]]:
        """Create or update the account; return the result and its notes.

        Raises:
            RecordRefused: the record contradicts the tenant's configuration, or names accounts of several people.
            IdentifierTaken, IntegrityError, ApiError: it collides with another record; the transaction must be rolled back.
        """
        forms = _forms(imported)
        self._check(imported)
        joins = [(self._organization(item), self._role_ids(item)) for item in imported.organizations]
        profile = self._profile_edits(imported)
        stored = self._find(imported, forms)
        if stored is None:
            account = self._add(imported, forms, profile)
            result: tuple[str, tuple[str, ...]] = ("created", ())
        elif not _is_untouched(stored):
            return "kept", ("kept the account that is in use here",)
        else:
            account, has_changed = self._update(stored, imported, forms, profile)
            result = ("updated" if has_changed else "unchanged", ())
        for organization, role_ids in joins:
            if memberships.join(self.context, account, organization, role_ids) and result[0] == "unchanged":
                result = ("updated", ())
        return result

    def _check(self, imported: ImportedAccount) -> None:
        settings = self.context.tenant.settings
        if imported.password_hash is not None:
            try:
                imported_hashes.check(imported.password_hash)
            except imported_hashes.UnusableHash as problem:
                raise RecordRefused(f"password_hash: {problem}") from None
        self._check_times(imported)
        if imported.uid is not None:
            if not settings.custom_uid:
                raise RecordRefused(
                    "uid: expected none, or the tenant's setting custom_uid: true, which keeps account ids"
                )
            if not identifiers.is_allowed_uid(imported.uid) or imported.uid.lower() in taken_uids():
                raise RecordRefused("uid: expected 1 to 50 letters, digits, hyphens and underscores")
        for identity in imported.identities:
            if identity.connection not in settings.connections:
                raise RecordRefused(f"identities: expected a connection of the tenant; found {identity.connection!r}")
        for name in imported.roles:
            if name not in self._known_roles:
                raise RecordRefused(f"roles: expected the name of a role of this tenant; found {name!r}")

    def _check_times(self, imported: ImportedAccount) -> None:
        """Refuse times to come: codes and links from before a change of the password would never be valid."""
        for key in ("created_at", "password_changed_at"):
            instant = getattr(imported, key)
            if instant is not None and not _FIRST <= instant <= self.context.now + _CLOCKS_DIFFER:
                raise RecordRefused(f"{key}: expected a time from 1970 to now")

    @cached_property
    def _known_roles(self) -> frozenset[str]:
        return frozenset(role.name for role in tenant_role_store.all_roles(self.context.work))

    def _organization(self, membership: ImportedMembership) -> OrganizationRecord:
        if membership.name not in self._organizations:
            self._organizations[membership.name] = organization_store.by_name(self.context, membership.name)
        organization = self._organizations[membership.name]
        if organization is None or not organization.is_active:
            raise RecordRefused(
                f"organizations: expected an active organization of this tenant; found {membership.name!r}"
            )
        return organization

    def _role_ids(self, membership: ImportedMembership) -> list[str]:
        organization = self._organization(membership)
        if not membership.roles:
            if not (default := memberships.default_role_ids(self.context, organization)):
                raise RecordRefused(f"organizations: expected roles; {membership.name} has no role for new members")
            return default
        known = {
            organization_names.key_of(role.name): role.role_id
            for role in organization_role_store.roles(self.context, ["", organization.org_id])
        }
        unknown = [name for name in membership.roles if organization_names.key_of(name) not in known]
        if unknown:
            raise RecordRefused(f"organizations: expected a role of {membership.name}; found {unknown[0]!r}")
        return [known[organization_names.key_of(name)] for name in membership.roles]

    def _profile_edits(self, imported: ImportedAccount) -> profile_edits.Edits:
        members = {member: getattr(imported, key) for key, member in FREE.items() if key in imported.model_fields_set}
        if imported.external_id is not None:
            members["ExternalUserLoginId"] = imported.external_id
        fields = self.context.tenant.settings.custom_fields
        today = self.context.now.date()
        try:
            return profile_edits.read(members, _WRITERS, clears=False, custom_fields=fields, today=today)
        except ApiError as refusal:
            raise RecordRefused(f"expected another value: {refusal.description}") from None

    def _find(self, imported: ImportedAccount, forms: dict[str, str]) -> Account | None:
        """Return the account that matches the record; remove an account whose unverified address the record has verified."""
        holders = self._accounts_of(imported, forms)
        for uid, item in list(holders.items()):
            if IMPORTED not in item.private and _is_verified(imported) and pending_accounts.is_replaceable(item):
                pending_accounts.remove_replaceable(self.context, item, imported.uid or "import")
                del holders[uid]
        if len(holders) > 1:
            those = " and ".join(map(_described, holders.values()))
            raise RecordRefused(
                f"expected one account; its ID, email, username, phone and identities belong to {len(holders)}: {those}"
            )
        stored = next(iter(holders.values()), None)
        if stored is not None and account_store.lock_unread(
            self.context, stored.uid
        ):  # against a sign-in at the same time
            stored = account_store.by_uid(self.context, stored.uid)
        if stored is not None:
            _refuse_another_person(stored, imported)
        return stored

    def _accounts_of(self, imported: ImportedAccount, forms: dict[str, str]) -> dict[str, Account]:
        """Return the accounts that have one of the record's identifiers, by their ids."""
        context = self.context
        stored = [account_store.by_uid(context, imported.uid)] if imported.uid else []
        stored += [account_store.by_identifier(context, kind, normalized) for kind, normalized in forms.items()]
        stored += [
            linked_identities.find_account(context, identity.connection, identity.id)
            for identity in imported.identities
        ]
        return {item.uid: item for item in stored if item is not None}

    def _add(self, imported: ImportedAccount, forms: dict[str, str], edits: profile_edits.Edits) -> Account:
        context = self.context
        uid = imported.uid or randomness.uid()
        private = {IMPORTED: _digest(imported.password_hash)}
        if imported.uid:
            private["is_custom_uid"] = True  # type: ignore[assignment] # a document of any values
        if imported.identities:
            private[IDENTITIES] = [self._identity(identity) for identity in imported.identities]  # type: ignore[assignment] # as above
        row = {
            "uid": uid,
            "profile_id": randomness.uid(),
            "is_active": imported.is_active,
            "profile": edits.apply({"RegistrationSource": "API"}),
            "private": private,
            "created_at": min(imported.created_at or context.now, context.now),
            "modified_at": context.now,
            "profile_modified_at": context.now,
            "emails": [],
            "email_verified": False,
            "phone_verified": False,
            **self._columns(imported, forms, EmailList()),
        }
        account = account_store.add(
            context, row, [(kind, normalized, _is_verified_kind(imported, kind)) for kind, normalized in forms.items()]
        )
        assigned_roles.assign(context.work, uid, {EVERYWHERE: set(imported.roles)})
        self._close_registrations(imported, forms)
        if imported.totp_secret:
            self._set_totp(account, imported.totp_secret)
        context.audit.record("account.created", uid=uid, source="import")
        return account

    def _columns(self, imported: ImportedAccount, forms: dict[str, str], stored: EmailList) -> dict[str, Any]:
        """Return the columns that the record names."""
        columns: dict[str, Any] = {}
        if imported.email:
            shown = identifiers.display_email(imported.email)
            primary = EmailList.single(shown, is_verified=imported.email_verified)
            others = (item for item in stored if not item.is_of_primary_type)
            columns |= EmailList((*primary, *others), shown).columns()
        if imported.phone:
            columns |= {"phone": forms[identifiers.PHONE], "phone_verified": imported.phone_verified}
        if imported.username:
            columns["username"] = forms[identifiers.USERNAME]
        if imported.password_hash:
            changed_at = min(imported.password_changed_at or self.context.now, self.context.now)
            columns |= {"password_hash": imported.password_hash, "password_changed_at": changed_at}
        return columns

    def _update(
        self, stored: Account, imported: ImportedAccount, forms: dict[str, str], edits: profile_edits.Edits
    ) -> tuple[Account, bool]:
        """Update an untouched account by the record; keys that it does not name stay."""
        context = self.context
        values = self._columns(imported, forms, stored.email_list)
        if imported.password_hash == stored.password_hash and imported.password_changed_at is None:
            values.pop("password_changed_at", None)
        if "is_active" in imported.model_fields_set:
            values["is_active"] = imported.is_active
        linked = [*(stored.private.get(IDENTITIES) or ())]
        fresh = [
            identity
            for identity in imported.identities
            if (identity.connection, identity.id) not in {(e["provider"], e["subject"]) for e in linked}
        ]
        hashed = values.get("password_hash", stored.password_hash)
        private = {**stored.private, IMPORTED: _digest(hashed)}
        if fresh:
            private[IDENTITIES] = [*linked, *(self._identity(identity) for identity in fresh)]
        values |= {"private": private, "profile": edits.apply(stored.profile)}
        changed = {name: value for name, value in values.items() if getattr(stored, name) != value}
        has_roles = "roles" in imported.model_fields_set and sorted(set(imported.roles)) != (stored.roles or [])
        has_totp = bool(imported.totp_secret) and self._set_totp(stored, imported.totp_secret or "")
        if not (changed or has_roles or has_totp):
            return stored, False
        account = account_store.change(context, stored.uid, changed) or stored
        self._write_identifiers(stored, imported, forms, fresh)
        if has_roles:
            assigned_roles.clear(context.work, stored.uid, [EVERYWHERE])
            assigned_roles.assign(context.work, stored.uid, {EVERYWHERE: set(imported.roles)})
        context.audit.record("account.changed", uid=stored.uid, source="import")
        return account, True

    def _write_identifiers(
        self, stored: Account, imported: ImportedAccount, forms: dict[str, str], fresh: list[ImportedIdentity]
    ) -> None:
        for kind, normalized in forms.items():
            stored_value = getattr(stored, kind)
            if stored_value is not None and identifiers.normalize(kind, stored_value) == normalized:
                account_store.set_verified(
                    self.context, stored.uid, kind, normalized, _is_verified_kind(imported, kind)
                )
                continue
            account_store.remove_identifiers(self.context, stored.uid, kind)
            account_store.add_identifiers(
                self.context, stored.uid, [(kind, normalized, _is_verified_kind(imported, kind))]
            )
        linked = [(identifiers.IDENTITY, identifiers.identity_value(item.connection, item.id), True) for item in fresh]
        account_store.add_identifiers(self.context, stored.uid, linked)
        self._close_registrations(imported, forms)

    def _close_registrations(self, imported: ImportedAccount, forms: dict[str, str]) -> None:
        """Remove open registrations with an address or number that the record says is verified."""
        for kind in (identifiers.EMAIL, identifiers.PHONE):
            if kind in forms and _is_verified_kind(imported, kind):
                pending_accounts.remove_pending(self.context, forms[kind])

    def _identity(self, item: ImportedIdentity) -> dict[str, Any]:
        linked_at = iso(self.context.now)
        return {
            "provider": item.connection, "subject": item.id, "email": item.email, "name": item.name, "picture": None,
            "linked_at": linked_at, "used_at": None, "profile": {},
        }  # fmt: skip

    def _set_totp(self, account: Account, secret: str) -> bool:
        """Enrol the authenticator app; return whether the account had another one or none."""
        seed = totp_secret_bytes(secret)
        stored = [
            credential
            for credential in credential_store.by_kind(self.context, account.uid, FactorKind.TOTP)
            if credential.is_enrolled
        ]
        if any(credential_store.decrypt_secret(self.context, credential) == seed for credential in stored):
            return False
        credential_store.remove(self.context, account.uid, (FactorKind.TOTP,))
        credential_store.add(self.context, account.uid, FactorKind.TOTP, secret=seed, is_enrolled=True)
        return True


def _forms(imported: ImportedAccount) -> dict[str, str]:
    """Return the normal form of each identifier. Raises RecordRefused."""
    forms = {}
    for kind in KINDS:
        if text := getattr(imported, kind):
            normalized = identifiers.normal_form(kind, text)
            if normalized is None:
                raise RecordRefused(f"{kind}: expected a valid {kind}")
            forms[kind] = normalized
    return forms


def _digest(password_hash: str | None) -> str:
    return randomness.digest(password_hash or "")


def _is_untouched(stored: Account) -> bool:
    """Return whether an import created the account, and its owner has neither signed in nor set a password here."""
    return (
        stored.private.get(IMPORTED) == _digest(stored.password_hash)
        and stored.last_login_at is None
        and not stored.is_deleted
    )


def _is_verified(imported: ImportedAccount) -> bool:
    return imported.email_verified or imported.phone_verified


def _is_verified_kind(imported: ImportedAccount, kind: str) -> bool:
    return kind == identifiers.USERNAME or bool(getattr(imported, f"{kind}_verified"))


def _refuse_another_person(stored: Account, imported: ImportedAccount) -> None:
    """Raise RecordRefused where the account has another id than the record, here or at the other system.

    Two people would become one otherwise, and applications know each by its id.
    """
    ids = ((stored.uid, imported.uid), (stored.profile.get("ExternalUserLoginId"), imported.external_id))
    for known, stated in ids:
        if known and stated and known != stated:
            raise RecordRefused(
                f"expected an email, username, phone and identities of its own; {_described(stored)} has one of them, and "
                f"the ID of this record is {stated}"
            )


def _described(stored: Account) -> str:
    """Return an account as an operator finds it at the other system."""
    named = stored.email or stored.username or stored.phone or "an account without a name"
    return f"{named} (ID {stored.profile.get('ExternalUserLoginId') or stored.uid})"
