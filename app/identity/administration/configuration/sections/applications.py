"""The applications of a configuration file."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from app.contract.applications.file import ApplicationFile
from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.file import TenantFile
from app.identity.administration.configuration.file.document import ConfigurationError, Path
from app.identity.administration.configuration.plan import ChangeAction, Made, Run
from app.identity.administration.configuration.sections import application_secrets
from app.identity.administration.configuration.value_origins import Marks, differences, marks, merged, unnamed
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import client_secrets
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.protocols.oauth import sector_identifiers
from app.kit import randomness

_SECTORS_AT_ONCE: Final = 4


def check_sectors(run: Run) -> None:
    """Fetch the sector documents that the run found to be new or to need more. Raises ConfigurationError."""
    resolver, document = run.services.provider_metadata.resolver, run.configuration.document
    addresses = sorted({str(settings.sector_identifier_uri) for _, settings in run.sectors})
    with ThreadPoolExecutor(_SECTORS_AT_ONCE) as threads:
        fetched = dict(
            zip(addresses, threads.map(lambda item: sector_identifiers.fetch(resolver, item), addresses), strict=True)
        )
    for path, settings in run.sectors:
        if problem := sector_identifiers.problem_with(fetched[str(settings.sector_identifier_uri)], settings):
            document.problem((*path, "sector_identifier_uri"), f"expected {problem}")
    if run.sectors and document.problems:
        raise ConfigurationError(document.problems)


@dataclass
class ApplicationPass:
    """Applies the applications of one tenant. `named`: the keys that files named, this one's included after the run."""

    run: Run
    declared: TenantFile
    path: Path
    named: Marks
    is_new: bool

    def apply(self) -> bool:
        """Apply the applications; return whether one changed."""
        if self.declared.applications is None:
            return False
        before = len(self.run.plan.changes)
        stored = [] if self.is_new else tenant_writes.configured_applications(self.run.work)
        seen = set()
        for number, application in enumerate(self.declared.applications):
            path = (*self.path, "applications", number)
            found = self._match(stored, application, path)
            if found is None:
                self._new(application, path)
            else:
                seen.add(found.client_id)
                self._old(found, application, path)
        for left in stored:
            if left.client_id not in seen:
                self._leave(left)
        return any(change.action is not ChangeAction.UNCHANGED for change in self.run.plan.changes[before:])

    def _match(self, stored: Sequence[ApplicationRow], declared: ApplicationFile, path: Path) -> ApplicationRow | None:
        by_id = next((item for item in stored if declared.client_id and item.client_id == declared.client_id), None)
        by_name = next((item for item in stored if item.name == declared.name.lower()), None)
        if by_id is None and by_name is not None and declared.client_id:
            self.run.refuse(
                (*path, "client_id"),
                f"expected {by_name.client_id}; the application {declared.name} has it and it can't change: use it here, "
                "or give this application another name",
            )
        if by_id is not None and by_name is not None and by_id is not by_name:
            self.run.refuse((*path, "name"), f"expected another name; application {by_name.client_id} has this one")
        return by_id or by_name

    def _new(self, declared: ApplicationFile, path: Path) -> None:
        client_id = declared.client_id or randomness.guid()
        self._name(client_id, declared.settings())
        if declared.client_id is None:
            self.run.plan.made.append(Made(f"application {self.declared.name}/{declared.name}", "client_id", client_id))
        secret = self._secret(declared) if declared.has_secret else None
        self._note(ChangeAction.CREATE, declared.name)
        settings = declared.settings()
        self._remember_sector(path, None, settings)
        if self.run.writes:
            encryption, tenant_id = self.run.services.encryption, self.run.work.tenant_id
            columns = client_secrets.columns(encryption, tenant_id, client_id, settings, secret)
            tenant_writes.add_application(self.run.work, client_id, settings, self.run.now, **columns)

    def _secret(self, declared: ApplicationFile) -> str:
        """Return the secret in the file, or a generated secret, which the plan shows once."""
        secret = declared.client_secret or randomness.token()
        if declared.client_secret is None:
            self.run.plan.made.append(
                Made(f"application {self.declared.name}/{declared.name}", "client_secret", secret)
            )
        return secret

    def _name(self, client_id: str, settings: ApplicationSettings) -> None:
        named = {**self.named.get("applications", {}), client_id: marks(tenant_writes.stored_settings(settings))}
        self.named = {**self.named, "applications": named}

    def _old(self, stored: ApplicationRow, declared: ApplicationFile, path: Path) -> None:
        before = self.named.get("applications", {}).get(stored.client_id) or marks(stored.settings)
        named = tenant_writes.stored_settings(declared.settings())
        settings = ApplicationSettings.model_validate(merged(stored.settings, named, before))
        self._name(stored.client_id, declared.settings())
        self._remember_sector(path, ApplicationSettings.model_validate(stored.settings), settings)
        details = list(differences(stored.settings, tenant_writes.stored_settings(settings), before))
        encryption, tenant_id = self.run.services.encryption, self.run.work.tenant_id
        why, values = application_secrets.changed(
            encryption, tenant_id, stored, settings, lambda: self._secret(declared)
        )
        details.extend([why] if why else [])
        notes = []
        is_other = declared.client_secret and stored.secret_hash not in (
            None,
            randomness.digest(declared.client_secret),
        )
        if is_other and not values:
            notes.append("client_secret: unchanged; a file doesn't overwrite it")
        action = ChangeAction.CHANGE if details else ChangeAction.UNCHANGED
        self._note(action, declared.name, *details, *notes, *unnamed(tenant_writes.stored_settings(settings), named))
        if self.run.writes and details:
            tenant_writes.change_application(self.run.work, stored.client_id, settings, **values)

    def _leave(self, stored: ApplicationRow) -> None:
        name = str(stored.settings.get("name", stored.name))
        if not self.run.prune:
            self._note(ChangeAction.UNCHANGED, name, "not in the file; remove it with --prune")
            return
        self._note(ChangeAction.REMOVE, name)
        if self.run.writes:
            tenant_writes.remove_application(self.run.work, stored.client_id)

    def _remember_sector(self, path: Path, before: ApplicationSettings | None, after: ApplicationSettings) -> None:
        if sector_identifiers.is_checked(before, after):
            self.run.sectors.append((path, after))

    def _note(self, action: ChangeAction, name: str, *details: str) -> None:
        self.run.note(action, self.declared.name, "application", name, *details)
