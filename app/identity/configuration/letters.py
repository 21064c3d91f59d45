"""Brings the tenants' own mails and text messages to what a configuration file states, and writes them into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.contract.configuration import TenantSettings
from app.contract.letters import MailTemplate, SmsTemplate
from app.contract.tenant_file import TenantFile
from app.identity.configuration.plan import Action, differences
from app.identity.configuration.problems import Path
from app.identity.configuration.run import Run
from app.identity.configuration.stated_letters import KEYS, listed, wrong
from app.identity.letters import store
from app.identity.store.unit import UnitOfWork


def bring(run: Run, stated: TenantFile, path: Path, settings: Mapping[str, Any]) -> bool:
    """Bring the tenant's templates to what the file says, as far as it says something; return whether one changed."""
    before = len(run.plan.changes)
    if stated.settings is None:
        known = TenantSettings.model_validate(settings).custom_fields
        for _, inner, template in listed(stated, path):
            for where, sentence in wrong(template, inner, known):
                run.refuse(where, sentence)
    for channel, key in KEYS.items():
        wanted: Sequence[MailTemplate | SmsTemplate] | None = getattr(stated, key)
        if wanted is not None:
            _channel(run, stated.name, channel, wanted)
    return any(change.action is not Action.UNCHANGED for change in run.plan.changes[before:])


def exported(work: UnitOfWork) -> dict[str, list[dict[str, Any]]]:
    """Return the templates as a file states them; no key where there is none."""
    found = {key: [_stated(channel, *held) for held in store.contents(work, channel)] for channel, key in KEYS.items()}
    return {key: listed for key, listed in found.items() if listed}


def _stated(channel: str, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    template = store.template_of(channel, kind, name, content)
    return template.model_dump(mode="json", exclude_unset=True)


def _channel(run: Run, tenant: str, channel: str, wanted: Sequence[MailTemplate | SmsTemplate]) -> None:
    held = {(kind, name): content for kind, name, content in store.contents(run.work, channel)}
    word = f"{channel}_template"
    for template in wanted:
        name = f"{template.type} {template.known_as}"
        content, before = store.content_of(template), held.pop((template.type.value, template.known_as), None)
        if before is None:
            run.note(Action.CREATE, tenant, word, name)
            if run.writes:
                store.add(run.work, template, run.now)
            continue
        details = list(differences(before, content))
        run.note(Action.CHANGE if details else Action.UNCHANGED, tenant, word, name, *details)
        if run.writes and details:
            store.change(run.work, template, run.now)
    for kind, name in held:
        if not run.prune:
            run.note(Action.UNCHANGED, tenant, word, f"{kind} {name}", "is not in the file; --prune removes it")
            continue
        run.note(Action.REMOVE, tenant, word, f"{kind} {name}")
        if run.writes:
            store.remove(run.work, channel, kind, name)
