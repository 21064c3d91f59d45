"""The tenant itself in a configuration file: its name, keys, settings, brand and secrets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from app.contract.tenants.branding import Brand, set_members
from app.contract.tenants.settings import TenantSettings
from app.contract.themes.theme_version_operations import OWN_LOOK
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangeAction
from app.identity.administration.configuration.sections import declared_secrets, declared_settings
from app.identity.administration.configuration.sections.section import FileSection
from app.identity.administration.configuration.value_origins import Marks, changes_with_origins, marks, merged, unnamed
from app.identity.administration.tenant_settings import second_factor_settings
from app.identity.administration.theme_versions import history
from app.identity.directory.accounts import provider_tokens
from app.identity.directory.tenants import script_permission, tenant_store, tenant_writes, theme_files
from app.identity.directory.tenants.tenant_writes import TenantRow
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.audit import AuditLog
from app.identity.platform.encryption import Encryption
from app.identity.platform.tenant import Tenant
from app.kit import randomness
from app.kit.design import theme_file_names

_NO_COLUMNS: dict[str, Any] = {"settings": {}, "brand": {}, "captcha_secret": None, "service_secrets": None}
"""The columns that a file sets, of a tenant that is not stored yet."""


@dataclass
class TenantSection(FileSection):
    """The row of one tenant. `key_owner`: the name of the tenant that has the API key of the file."""

    key_owner: str | None

    def plan(self) -> Tenant | None:
        """Plan the row, and return the tenant after the run, at its version before; None if it cannot be read."""
        self._check_name_and_key()
        before = dict(self.planned.named)
        stored = _NO_COLUMNS if self.stored is None else {name: getattr(self.stored, name) for name in _NO_COLUMNS}
        settings = self._settings(stored["settings"], before.get("settings", {}))
        brand = self._brand(stored["brand"], before.get("brand", {}))
        if not (self._fits(TenantSettings, "settings", settings) and self._fits(Brand, "brand", brand)):
            return None
        self._check_settings(stored, settings)
        self._check_scripts(stored["brand"], brand, settings)
        after: dict[str, Any] = {"settings": settings, "brand": brand, **self._secrets(stored, settings)}
        if self.stored is None:
            row = self._create(after)
        else:
            row = replace(self.stored, **after)
            self._change(self.stored, stored, after, before)
        return tenant_store.of_row(row, custom_hosts.of_tenant(self.work))

    def _check_name_and_key(self) -> None:
        ours = self.run.services.settings
        if self.key_owner not in (None, self.declared.name):
            self.add_problem((*self.path, "api_key"), "expected a key of its own; another tenant uses this one")
        if self.stored is None and f"{self.declared.name}.{ours.hub_domain}" == ours.api_hostname:
            self.add_problem(
                (*self.path, "name"), "expected another name; this tenant's host would be GATEHOUSE_API_HOST"
            )

    def _settings(self, stored: dict[str, Any], before: Marks) -> dict[str, Any]:
        self.planned.named["settings"] = declared_settings.marks_after(self.declared, before)
        return declared_settings.after_file(self.declared, stored, before)

    def _fits(self, model: type[BaseModel], key: str, after: dict[str, Any]) -> bool:
        """Return whether the values of the file fit the stored ones that stay; else the plan gets the problems."""
        try:
            model.model_validate(after)
        except ValidationError as problem:
            for error in problem.errors():
                where = ".".join(map(str, error["loc"]))
                self.add_problem((*self.path, key), f"expected {key} that fit the stored ones: {where} {error['msg']}")
            return False
        return True

    def _check_settings(self, stored: dict[str, Any], after: dict[str, Any]) -> None:
        if second_factor_settings.is_unsafe_change(stored["settings"], after):
            self.add_problem(
                (*self.path, "settings", "two_factor"), f"expected disabled: {second_factor_settings.NEEDED}"
            )
        needs_secret = after.get("captcha", {}).get("provider", "own") != "own"
        if needs_secret and self.declared.captcha_secret is None and stored["captcha_secret"] is None:
            self.add_problem((*self.path, "captcha_secret"), "expected the secret of settings.captcha.provider")

    def _brand(self, stored: dict[str, Any], before: Marks) -> dict[str, Any]:
        brand = self.run.configuration.brands.get(self.declared.name)
        if brand is None:
            self.planned.named.setdefault("brand", {})
            return stored
        named = brand.model_dump(mode="json", exclude_unset=True)
        self.planned.named["brand"] = marks(named)
        after = merged(stored, named, before)
        self._check_files(after.get("files", {}))
        return after

    def _check_scripts(self, stored: dict[str, Any], brand: dict[str, Any], settings: dict[str, Any]) -> None:
        """Refuse scripts of the theme that the settings do not allow; warn of stored ones, which pages leave out."""
        scripts, after = brand.get("scripts", {}), TenantSettings.model_validate(settings)
        for place, sentence in script_permission.new_script_problems(scripts, stored.get("scripts", {}), after):
            at = "theme" if self.declared.theme is not None else "brand"
            self.add_problem((*self.path, at), f"scripts.{place}: expected {sentence}")
        for place, sentence in script_permission.new_script_problems(scripts, {}, after):
            self.planned.warnings.append(f"{self.declared.name}: pages leave out scripts.{place}: expected {sentence}.")

    def _check_files(self, files: dict[str, str]) -> None:
        """Refuse files that are neither in the theme's folder nor stored: a file may name the digests of earlier ones."""
        sent = {theme_file_names.digest_of(content) for _, content in self._theme_files}
        others = set(files.values()) - sent
        missing = others - theme_files.sizes(self.work, others).keys()
        for name in sorted(name for name, digest in files.items() if digest in missing):
            self.add_problem(
                (*self.path, "brand"), f"expected a folder as theme that has {name}; no such file is stored"
            )

    @property
    def _theme_files(self) -> list[tuple[str, bytes]]:
        return self.run.configuration.theme_files.get(self.declared.name, [])

    def _store_files(self) -> None:
        """Store the files of the theme's folder. Raises ConfigurationError if the tenant would have too many."""
        is_sqlite = self.run.services.database.is_sqlite
        if not theme_files.store(self.work, self._theme_files, self.run.now, is_sqlite=is_sqlite):
            path = (*self.path, "theme")
            raise ConfigurationError([self.run.configuration.document.problem_at(path, theme_files.TOO_MANY_BYTES)])

    def _add(self, **columns: Any) -> None:
        tenant_writes.add(self.work, self.declared.name, **columns)
        self._store_files()
        self._publish_look({}, columns["brand"])

    def _secrets(self, stored: dict[str, Any], settings: dict[str, Any]) -> dict[str, bytes | None]:
        encryption, tenant_id, connections = self._encryption, self.planned.tenant_id, settings.get("connections", {})
        captcha, services = stored["captcha_secret"], stored["service_secrets"]
        return {
            "captcha_secret": declared_secrets.captcha_secret(encryption, tenant_id, self.declared, captcha),
            "service_secrets": declared_secrets.service_secrets(
                encryption, tenant_id, self.declared, services, connections
            ),
        }

    def _create(self, columns: dict[str, Any]) -> TenantRow:
        key, secret = (self._declared_or_made(name) for name in ("api_key", "api_secret"))
        sealed = declared_secrets.api_secret(self._encryption, self.planned.tenant_id, secret)
        columns |= {"api_key": key, "api_secret": sealed}
        digest, now = tenant_writes.secret_digest(secret), self.run.now
        write = partial(self._add, **columns, api_secret_hash=digest, now=now)
        self.note(ChangeAction.CREATE, "tenant", self.declared.name, write=write)
        return TenantRow(self.planned.tenant_id, self.declared.name, version=0, is_active=True, **columns)

    def _declared_or_made(self, name: str) -> str:
        declared: str | None = getattr(self.declared, name)
        if declared:
            return declared
        guid = randomness.guid()
        self.note_generated(f"tenant {self.declared.name}", name, guid)
        return guid

    def _change(self, row: TenantRow, stored: dict[str, Any], after: dict[str, Any], before: Marks) -> None:
        details = [
            *changes_with_origins(stored["settings"], after["settings"], before.get("settings", {}), "settings."),
            *changes_with_origins(stored["brand"], after["brand"], before.get("brand", {}), "brand."),
        ]
        for name, shown in (
            ("captcha_secret", "captcha_secret"),
            ("service_secrets", "secrets of push, duo or connections"),
        ):
            details += [f"{shown}: changed"] if after[name] != stored[name] else []
        notes = self._notes(row, after["settings"])
        if details:
            write = partial(self._write, stored, after)
            self.note(ChangeAction.CHANGE, "tenant", self.declared.name, *details, *notes, write=write)
        else:
            store = self._store_files if self._theme_files else None  # named themes may have new ones
            self.note(ChangeAction.UNCHANGED, "tenant", self.declared.name, *notes, write=store)

    def _notes(self, row: TenantRow, settings: dict[str, Any]) -> Iterator[str]:
        """Yield what the file does not change, though an operator may expect it to."""
        for name in declared_secrets.ignored(self._encryption, self.declared, row):
            yield f"{name}: unchanged; a file doesn't overwrite it"
        yield from unnamed(
            declared_settings.managed(self.declared, settings), self.planned.named["settings"], "settings."
        )
        if not row.is_active:
            yield "suspended; 'gatehouse tenant resume' takes it back"

    def _write(self, before: dict[str, Any], columns: dict[str, Any]) -> None:
        tenant_writes.change(self.work, **columns)
        self._store_files()
        provider_tokens.delete_unretained(self.work, before["settings"], columns["settings"])
        self._publish_look(before["brand"], columns["brand"])

    def _publish_look(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        looks = set_members(before), set_members(after)
        if looks[0] == looks[1]:
            return
        audit, by = AuditLog(self.run.services.clock), history.FILE_AUTHOR
        if self.stored is None:
            history.publish(self.work, audit, OWN_LOOK, history.FIRST, looks[1], by, self.run.now)
        else:
            history.publish_own(self.work, audit, *looks, by, self.run.now)
        audit.write(self.work)

    @property
    def _encryption(self) -> Encryption:
        return self.run.services.encryption
