"""The applications of a configuration file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

from app.contract.applications.file import ApplicationFile
from app.contract.applications.oauth_client_operations import CLIENTS
from app.contract.applications.settings import ApplicationSettings
from app.identity.administration.applications import oauth_clients
from app.identity.administration.configuration.file.yaml_document import ConfigurationProblem, KeyPath
from app.identity.administration.configuration.plan import ChangeAction
from app.identity.administration.configuration.sections import application_secrets
from app.identity.administration.configuration.sections.section import ItemSection, Run
from app.identity.administration.configuration.value_origins import changes_with_origins, marks, merged, unnamed
from app.identity.administration.resource_operations.write_resources import Writer
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_writes import ApplicationRow
from app.identity.platform.resource_storage.items import FILE, Item
from app.identity.protocols.oauth import sector_identifiers
from app.kit import randomness

_SECTORS_AT_ONCE: Final = 4


def sector_problems(run: Run, sectors: Sequence[tuple[KeyPath, ApplicationSettings]]) -> Iterator[ConfigurationProblem]:
    """Fetch the sector documents of these applications, and yield the problems that they have."""
    resolver, document = run.services.provider_metadata.resolver, run.configuration.document
    addresses = sorted({str(settings.sector_identifier_uri) for _, settings in sectors})
    with ThreadPoolExecutor(_SECTORS_AT_ONCE) as threads:
        fetched = dict(
            zip(addresses, threads.map(lambda item: sector_identifiers.fetch(resolver, item), addresses), strict=True)
        )
    for path, settings in sectors:
        if problem := sector_identifiers.problem_with(fetched[str(settings.sector_identifier_uri)], settings):
            yield document.problem_at((*path, "sector_identifier_uri"), f"expected {problem}")


@dataclass(frozen=True)
class _Stored:
    """The stored applications of a tenant, indexed."""

    by_id: Mapping[str, ApplicationRow]
    by_name: Mapping[str, ApplicationRow]


@dataclass
class ApplicationSection(ItemSection):
    """The applications of one tenant."""

    @cached_property
    def clients(self) -> Writer:
        return self.writer(CLIENTS)

    def plan(self) -> None:
        if self.declared.applications is None:
            return
        rows = tenant_writes.configured_applications(self.work)
        stored = _Stored({row.client_id: row for row in rows}, {row.name: row for row in rows})
        seen = set()
        for number, application in enumerate(self.declared.applications):
            path = (*self.path, "applications", number)
            with self.collecting_problems():
                stored_application = self._match(stored, application, path)
                if stored_application is None:
                    self._new(application, path)
                else:
                    seen.add(stored_application.client_id)
                    self._old(stored_application, application, path)
        for left in rows:
            if left.client_id not in seen:
                if not self.run.prune:
                    self._remember_workflows(self.path, ApplicationSettings.model_validate(left.settings))
                name = str(left.settings.get("name", left.name))
                self.note_left("application", name, write=partial(self.clients.remove, oauth_clients.item_of(left)))

    def _match(self, stored: _Stored, declared: ApplicationFile, path: KeyPath) -> ApplicationRow | None:
        by_id = stored.by_id.get(declared.client_id) if declared.client_id else None
        by_name = stored.by_name.get(declared.name.lower())
        if by_id is None and by_name is not None and declared.client_id:
            self.refuse(
                (*path, "client_id"),
                f"expected {by_name.client_id}; the application {declared.name} has it and it can't change: use it here, "
                "or give this application another name",
            )
        if by_id is not None and by_name is not None and by_id is not by_name:
            self.refuse((*path, "name"), f"expected another name; application {by_name.client_id} has this one")
        return by_id or by_name

    def _new(self, declared: ApplicationFile, path: KeyPath) -> None:
        client_id = declared.client_id or randomness.guid()
        settings = declared.settings()
        self._name(client_id, settings)
        if declared.client_id is None:
            self.note_generated(f"application {self.declared.name}/{declared.name}", "client_id", client_id)
        secrets = self._secrets(declared) if declared.has_secret else {}
        self._remember_sector(path, None, settings)
        self._remember_workflows((*path, "workflows"), settings)
        item = self._item(declared.name, client_id, settings, secrets)
        self.check(self.clients, path, None, item)
        self.note(
            ChangeAction.CREATE, "application", declared.name, write=partial(self.clients.put, None, item), path=path
        )

    def _secrets(self, declared: ApplicationFile) -> dict[str, str]:
        """Return the secret in the file, or a generated secret, which the plan shows once."""
        secret = declared.client_secret or randomness.token()
        if declared.client_secret is None:
            self.note_generated(f"application {self.declared.name}/{declared.name}", "client_secret", secret)
        return {"client_secret": secret}

    def _name(self, client_id: str, settings: ApplicationSettings) -> None:
        named = {
            **self.planned.named.get("applications", {}),
            client_id: marks(tenant_writes.stored_settings(settings)),
        }
        self.planned.named["applications"] = named

    def _old(self, stored: ApplicationRow, declared: ApplicationFile, path: KeyPath) -> None:
        before = self.planned.named.get("applications", {}).get(stored.client_id) or marks(stored.settings)
        named = tenant_writes.stored_settings(declared.settings())
        settings = ApplicationSettings.model_validate(merged(stored.settings, named, before))
        self._name(stored.client_id, declared.settings())
        self._remember_sector(path, ApplicationSettings.model_validate(stored.settings), settings)
        self._remember_workflows((*path, "workflows"), settings)
        details = list(changes_with_origins(stored.settings, tenant_writes.stored_settings(settings), before))
        why = application_secrets.problem_with(stored, settings)
        details.extend([why] if why else [])
        secrets = self._secrets(declared) if why and settings.has_secret else {}
        notes = [*unnamed(tenant_writes.stored_settings(settings), named)]
        is_other = declared.client_secret and stored.secret_hash not in (
            None,
            randomness.digest(declared.client_secret),
        )
        if is_other and not why:
            notes.insert(0, "client_secret: unchanged; a file doesn't overwrite it")
        before_item = oauth_clients.item_of(stored)
        after = self._item(before_item.name, stored.client_id, settings, {**before_item.secrets, **secrets})
        if details:
            self.check(self.clients, path, before_item, after)
        write = partial(self.clients.put, before_item, after)
        self.note_change("application", declared.name, details, *notes, write=write, path=path)

    def _item(self, name: str, client_id: str, settings: ApplicationSettings, secrets: dict[str, str]) -> Item:
        """Return an application as an item, with the keys that the file names."""
        content = {**tenant_writes.stored_settings(settings), "client_id": client_id}
        return Item((name,), content, secrets, {"by": FILE, "named": self.planned.named["applications"][client_id]})

    def _remember_workflows(self, path: KeyPath, settings: ApplicationSettings) -> None:
        """Note what an application has after the run; `chosen_workflows.py` compares it with the workflows then."""
        self.planned.workflow_choices += [(path, name) for name in settings.workflows]

    def _remember_sector(self, path: KeyPath, before: ApplicationSettings | None, after: ApplicationSettings) -> None:
        if sector_identifiers.is_checked(before, after):
            self.planned.sectors.append((path, after))
