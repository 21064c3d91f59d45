"""Applies a configuration file: compares it with the stored configuration and writes the differences, in one transaction.

A file overwrites the values that it names, and resets values that only an earlier file named; values that operations set stay
(`value_origins.py`). Existing passwords, keys and secrets are never overwritten. `prune` removes applications, roles and templates that the
file does not list, and accounts that an earlier file created and this one does not list; registered accounts stay.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.contract.second_factors.service_settings import SECRETS_IN_FILE
from app.contract.tenants.file import BESIDE_SETTINGS, TenantFile
from app.contract.tenants.settings import Argon2, TenantSettings
from app.identity.administration.configuration.file.document import ConfigurationError, ConfigurationProblem, Path
from app.identity.administration.configuration.file.reader import Configuration
from app.identity.administration.configuration.plan import Change, ChangeAction, ChangePlan, Made
from app.identity.administration.configuration.sections import applications
from app.identity.administration.configuration.sections.accounts import AccountSection
from app.identity.administration.configuration.sections.applications import ApplicationSection
from app.identity.administration.configuration.sections.initial_access_tokens import InitialAccessTokenSection
from app.identity.administration.configuration.sections.organizations import OrganizationSection
from app.identity.administration.configuration.sections.resources import ResourceSection
from app.identity.administration.configuration.sections.roles import RoleSection
from app.identity.administration.configuration.sections.section import Run
from app.identity.administration.configuration.tenant_context import context_of
from app.identity.administration.configuration.value_origins import Marks, differences, marks, merged, of_files, unnamed
from app.identity.administration.tenant_settings import second_factors as second_factor_settings
from app.identity.credentials.passwords import hash_cost
from app.identity.directory.accounts import provider_tokens
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.addresses import custom_hosts
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.store import LOOKUP_TENANT
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.operations.errors import ApiError

_ADVISORY_LOCK = 4_017_204  # an arbitrary number: the advisory lock that serializes concurrent runs


def plan(services: IdentityServices, configuration: Configuration, *, prune: bool = False) -> ChangePlan:
    """Return the changes that `apply` would make; addresses in the file are fetched without a transaction.

    Raises:
        ConfigurationError: the file contradicts the stored configuration, or a document that it names.
    """
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    run = Run(services, work, configuration, prune)
    try:
        for tenant in _tenants(run):
            tenant.plan()
    finally:
        work.rollback()
    applications.check_sectors(run)
    return run.plan


def apply(services: IdentityServices, configuration: Configuration, *, prune: bool = False) -> ChangePlan:
    """Apply the file, completely or not at all.

    Passwords of new accounts are hashed, and addresses fetched, before the transaction begins, to keep it short.

    Raises:
        ConfigurationError: the file contradicts the stored configuration.
        StoreUnavailable: the database is unreachable, full or read-only.
    """
    hashes = _hashes(services, configuration, plan(services, configuration, prune=prune))
    work = UnitOfWork(services.database, LOOKUP_TENANT)
    run = Run(services, work, configuration, prune, hashes)
    try:
        work.begin()
        if not services.database.is_sqlite:
            work.run(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
        for tenant in _tenants(run):
            tenant.plan()
            tenant.write()
        work.commit()
        return run.plan
    except IntegrityError as problem:
        raise ConfigurationError(
            [ConfigurationProblem(configuration.document.file, 1, "", f"is already taken: {problem.orig}")]
        ) from problem
    finally:
        work.rollback()


def _hashes(
    services: IdentityServices, configuration: Configuration, planned: ChangePlan
) -> dict[tuple[str, str], str]:
    """Hash the passwords of accounts that the plan creates or changes."""
    requested = []
    for change in planned.changes:
        tenant = next(item for item in configuration.tenants if item.name == change.tenant)
        account = next((item for item in tenant.accounts or () if item.label == change.name), None)
        if (
            change.kind == "account"
            and account is not None
            and account.password
            and change.action is not ChangeAction.UNCHANGED
        ):
            parameters = tenant.settings.argon2 if tenant.settings else Argon2()
            requested.append((tenant.name, account.label, account.password, parameters))
    # Expensive hashes run one at a time: several at once would wait for each other until HashingBusy.
    is_expensive = any(hash_cost.of_parameters(parameters) > hash_cost.EXPENSIVE for *_, parameters in requested)
    with ThreadPoolExecutor(1 if is_expensive else services.settings.hashes_at_once) as threads:
        hashes = list(threads.map(lambda item: services.hashing.hash(item[2], item[3]), requested))
    return {(item[0], item[1]): hashed for item, hashed in zip(requested, hashes, strict=True)}


def _tenants(run: Run) -> Iterator[_Tenant]:
    return (_Tenant(run, declared, ("tenants", at)) for at, declared in enumerate(run.configuration.tenants))


class _Tenant:
    """One tenant of the file: `plan` compares it with what is stored, `write` carries out the changes."""

    def __init__(self, run: Run, declared: TenantFile, path: Path) -> None:
        self.run, self.declared, self.path, self.work = run, declared, path, run.work
        self.settings: dict[str, Any] = {}  # after this run
        self.named: Marks = {}  # the keys that this file and earlier ones name
        self.changes: list[Change] = []
        self.stored: TenantRow | None = None
        self.contexts: list[Context] = []

    def plan(self) -> None:
        """Add the tenant's changes to the plan, without writing any."""
        planned = self.run.plan.changes
        first = len(planned)
        self.work.switch_tenant(LOOKUP_TENANT)
        self.stored = tenant_writes.by_name(self.work, self.declared.name)
        owner = tenant_writes.tenant_with_key(self.work, self.declared.api_key) if self.declared.api_key else None
        if owner not in (None, self.declared.name):
            self.run.refuse((*self.path, "api_key"), "expected a key of its own; another tenant uses this one")
        if self.stored is None:
            self._add()
        else:
            self.stored = self._change(self.stored)
        settings, is_new = self._checked(self.settings), self.stored is None
        program, people = (context_of(self.run.services, self.work, self.declared.name, settings) for _ in range(2))
        program.tenant = replace(program.tenant, custom_hosts=custom_hosts.of_tenant(self.work))
        program.program_scopes = frozenset({powers.ALL})
        of_program = (self.run, self.declared, self.path, program, self.named, is_new)
        of_people = (self.run, self.declared, self.path, people, self.named, is_new)
        ApplicationSection(*of_program).plan()
        ResourceSection(*of_program).plan()
        InitialAccessTokenSection(*of_program).plan()
        roles = RoleSection(*of_people)
        roles.plan()
        AccountSection(*of_people, roles.known).plan()
        OrganizationSection(*of_people).plan()
        self.contexts, self.changes = [program, people], planned[first:]

    def write(self) -> None:
        """Carry out the planned changes. Raises ConfigurationError for what an operation refuses."""
        for change in self.changes:
            try:
                if change.write is not None:
                    change.write()
            except ApiError as refusal:
                self.run.refuse(change.path, refusal.description)
        if self.stored is None or self.stored.named_by_file != self.named:
            tenant_writes.set_named_by_file(self.work, self.named)
        for context in self.contexts:
            context.audit.write(self.work)

    def _add(self) -> None:
        declared = self.declared
        ours = self.run.services.settings
        if f"{declared.name}.{ours.hub_domain}" == ours.api_hostname:
            self.run.refuse(
                (*self.path, "name"), "expected another name; this tenant's host would be GATEHOUSE_API_HOST"
            )
        key = declared.api_key or randomness.guid()
        secret = declared.api_secret or randomness.guid()
        for name, item, value in (("api_key", declared.api_key, key), ("api_secret", declared.api_secret, secret)):
            if item is None:
                self.run.plan.made.append(Made(f"tenant {declared.name}", name, value))
        self.work.switch_tenant(randomness.uid())
        settings = self.settings = self._settings({})
        brand = merged({}, self._brand() or {}, {})
        self.named["brand"] = marks(brand)
        columns: dict[str, Any] = {
            "api_key": key,
            "api_secret": self.run.services.encryption.encrypt(
                secret.encode(), tenant_writes.api_secret_associated_data(self.work.tenant_id)
            ),
            "api_secret_hash": tenant_writes.secret_digest(secret),
            "settings": settings,
            "brand": brand,
            "captcha_secret": self._captcha_secret(None, settings),
            "service_secrets": self._service_secrets(None),
            "now": self.run.now,
        }
        self._note(ChangeAction.CREATE, write=partial(tenant_writes.add, self.work, declared.name, **columns))

    def _change(self, stored: TenantRow) -> TenantRow:
        self.work.switch_tenant(stored.tenant_id)
        if self.work.is_writing:  # an operation may change it concurrently
            stored = tenant_writes.lock(self.work) or stored
        self.named = {**(stored.named_by_file or of_files(stored.settings, stored.brand))}
        before, brand_before = self.named.get("settings", {}), self.named.get("brand", {})
        settings = self.settings = self._settings(stored.settings)
        named_brand = self._brand()
        brand = stored.brand if named_brand is None else merged(stored.brand, named_brand, brand_before)
        if named_brand is not None:
            self.named["brand"] = marks(named_brand)
        details = [
            *differences(stored.settings, settings, before, "settings."),
            *differences(stored.brand, brand, brand_before, "brand."),
        ]
        captcha = self._captcha_secret(stored.captcha_secret, settings)
        if captcha != stored.captcha_secret:
            details.append("captcha_secret: changed")
        stored_services = self._service_secrets(stored.service_secrets)
        if stored_services != stored.service_secrets:
            details.append("secrets of push, duo or connections: changed")
        action = ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        stays = list(unnamed(self._managed(settings), self.named["settings"], "settings."))
        if not stored.is_active:
            stays.append("suspended; 'gatehouse tenant resume' takes it back")
        columns = {"settings": settings, "brand": brand, "captcha_secret": captcha, "service_secrets": stored_services}
        write = partial(self._write_columns, stored, columns) if details else None
        self._note(action, *details, *self._unchanged_credentials(stored), *stays, write=write)
        return stored

    def _write_columns(self, stored: TenantRow, columns: dict[str, Any]) -> None:
        tenant_writes.change(self.work, **columns)
        provider_tokens.delete_unretained(self.work, stored.settings, columns["settings"])

    def _captcha_secret(self, stored: bytes | None, settings: dict[str, Any]) -> bytes | None:
        """Return the encrypted secret to store: the stored bytes if the file has the same secret or none."""
        declared, associated_data = (
            self.declared.captcha_secret,
            tenant_writes.captcha_associated_data(self.work.tenant_id),
        )
        if declared is None:
            if stored is None and TenantSettings.model_validate(settings).captcha.provider != "own":
                self.run.refuse((*self.path, "captcha_secret"), "expected the secret of settings.captcha.provider")
            return stored
        if stored is not None and hmac.compare_digest(
            self.run.services.encryption.decrypt(stored, associated_data), declared.encode()
        ):
            return stored
        return self.run.services.encryption.encrypt(declared.encode(), associated_data)

    def _service_secrets(self, stored: bytes | None) -> bytes | None:
        """Return the encrypted secrets to store: the stored bytes if the file has the same secrets or none."""
        declared = self.declared
        push = declared.push.secrets.model_dump(exclude_unset=True) if declared.push and declared.push.secrets else {}
        duo = {"client_secret": declared.duo.client_secret} if declared.duo and declared.duo.client_secret else {}
        connections = self._connection_secrets(stored)
        encryption, tenant_id = self.run.services.encryption, self.work.tenant_id
        return tenant_secrets.encrypt_merged(encryption, tenant_id, stored, push=push, duo=duo, connections=connections)

    def _connection_secrets(self, stored: bytes | None) -> dict[str, str | None]:
        """Return the secrets in the file, and None for those to remove: the connection is gone, or has no secret any longer."""
        declared = self.declared.connections
        if declared is None:
            return {}
        known = tenant_secrets.decrypt_all(self.run.services.encryption, self.work.tenant_id, stored).get(
            tenant_secrets.CONNECTIONS, {}
        )
        stays = self.settings.get("connections", {})
        secrets: dict[str, str | None] = {name: None for name in known if name.partition(".")[0] not in stays}
        for member, end in (("secret", ""), ("apple_certificate", tenant_secrets.APPLE_KEY)):
            for name, connection in declared.items():
                if member in connection.model_fields_set:
                    secrets[name + end] = getattr(connection, member)
        return secrets

    def _unchanged_credentials(self, stored: TenantRow) -> list[str]:
        """Return a note for each key or secret of the file that differs from the stored one, which stays."""
        notes = []
        if self.declared.api_key and self.declared.api_key.lower() != stored.api_key:
            notes.append("api_key: unchanged; a file doesn't overwrite it")
        if self.declared.api_secret:
            known = self.run.services.encryption.decrypt(
                stored.api_secret, tenant_writes.api_secret_associated_data(stored.tenant_id)
            ).decode()
            if not hmac.compare_digest(known.lower(), self.declared.api_secret.lower()):
                notes.append("api_secret: unchanged; a file doesn't overwrite it")
        return notes

    def _settings(self, stored: dict[str, Any]) -> dict[str, Any]:
        """Return the settings to store, and remember the keys that the file names; parts of the tenant that it omits stay."""
        declared = self.declared
        secrets: Any = SECRETS_IN_FILE
        beside = declared.model_dump(mode="json", include=set(BESIDE_SETTINGS), exclude=secrets, exclude_unset=True)
        own = declared.settings.model_dump(mode="json", exclude_unset=True) if declared.settings else {}
        named, before = {**own, **beside}, self.named.get("settings", {})
        latest = merged(stored, named, self._managed(before))
        others = {key: mark for key, mark in before.items() if key not in self._managed(before)}
        self.named["settings"] = {**others, **marks(named)}
        empty = [key for key in BESIDE_SETTINGS if latest.get(key, ()) in (None, [])]
        latest = {key: value for key, value in latest.items() if key not in empty}  # empty equals the default
        self._checked(latest)
        if second_factor_settings.is_unsafe_change(stored, latest):
            self.run.refuse(
                (*self.path, "settings", "two_factor"), f"expected disabled: {second_factor_settings.NEEDED}"
            )
        return latest

    def _managed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that the file manages, by the keys that its tenant has."""
        declared = self.declared.model_fields_set
        return {
            key: value
            for key, value in settings.items()
            if (key in declared if key in BESIDE_SETTINGS else self.declared.settings is not None)
        }

    def _checked(self, settings: dict[str, Any]) -> TenantSettings:
        try:
            return TenantSettings.model_validate(settings)
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(map(str, first["loc"]))
            self.run.refuse(
                (*self.path, "settings"), f"expected settings that fit the stored ones: {where} {first['msg']}"
            )

    def _brand(self) -> dict[str, Any] | None:
        """Return the brand in the file, if it has one."""
        brand = self.run.configuration.brands.get(self.declared.name)
        return None if brand is None else brand.model_dump(mode="json", exclude_unset=True)

    def _note(self, action: ChangeAction, *details: str, write: Callable[[], object] | None) -> None:
        name = self.declared.name
        self.run.plan.changes.append(Change(action, name, "tenant", name, details, write, self.path))
