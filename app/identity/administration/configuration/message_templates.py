"""Brings the tenants' own mails and text messages to what a configuration file states, and writes them into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.contract.configuration import TenantSettings
from app.contract.messages import MailTemplate, SmsTemplate
from app.contract.tenant_file import TenantFile
from app.identity.administration.configuration.declared_templates import KEYS, listed, wrong
from app.identity.administration.configuration.origins import Marks, differences, marks, merged, unnamed
from app.identity.administration.configuration.plan import Action
from app.identity.administration.configuration.problems import Path
from app.identity.administration.configuration.run import Run
from app.identity.messaging import store
from app.identity.platform.store.unit import UnitOfWork


def bring(run: Run, stated: TenantFile, path: Path, settings: Mapping[str, Any], named: Marks) -> bool:
    """Bring the tenant's templates to what the file says, as far as it says something; return whether one changed.

    Args:
        named: what files named until now; what this one names of the templates is noted in it.
    """
    before = len(run.plan.changes)
    if stated.settings is None:
        known = TenantSettings.model_validate(settings).custom_fields
        for _, inner, template in listed(stated, path):
            for where, sentence in wrong(template, inner, known):
                run.refuse(where, sentence)
    for channel, key in KEYS.items():
        wanted: Sequence[MailTemplate | SmsTemplate] | None = getattr(stated, key)
        if wanted is not None:
            named[key] = _channel(run, stated.name, channel, wanted, named.get(key, {}))
    return any(change.action is not Action.UNCHANGED for change in run.plan.changes[before:])


def exported(work: UnitOfWork) -> dict[str, list[dict[str, Any]]]:
    """Return the templates as a file states them; no key where there is none."""
    found = {key: [_stated(channel, *held) for held in store.contents(work, channel)] for channel, key in KEYS.items()}
    return {key: listed for key, listed in found.items() if listed}


def _stated(channel: str, kind: str, name: str, content: dict[str, Any]) -> dict[str, Any]:
    template = store.template_of(channel, kind, name, content)
    return template.model_dump(mode="json", exclude_unset=True)


def _channel(run: Run, tenant: str, channel: str, wanted: Sequence[MailTemplate | SmsTemplate], named: Marks) -> Marks:
    held = {(kind, name): content for kind, name, content in store.contents(run.work, channel)}
    word, names = f"{channel}_template", dict[str, Any]()
    for template in wanted:
        name = f"{template.type} {template.known_as}"
        content, stands = store.content_of(template), held.pop((template.type.value, template.known_as), None)
        names[name] = marks(content)
        if stands is None:
            run.note(Action.CREATE, tenant, word, name)
            if run.writes:
                store.add(run.work, template, run.now)
            continue
        before = named.get(name, {})
        after = merged(stands, content, before)
        details = list(differences(stands, after, before))
        action = Action.CHANGE if details else Action.UNCHANGED
        run.note(action, tenant, word, name, *details, *unnamed(after, content))
        if run.writes and details:
            store.change(run.work, store.template_of(channel, template.type, template.known_as, after), run.now)
    for kind, name in held:
        origin = "a file brought it" if f"{kind} {name}" in named else "an operation made it"
        if not run.prune:
            run.note(
                Action.UNCHANGED, tenant, word, f"{kind} {name}", f"is not in the file; --prune removes it ({origin})"
            )
            names |= {one: mark for one, mark in named.items() if one == f"{kind} {name}"}
            continue
        run.note(Action.REMOVE, tenant, word, f"{kind} {name}", origin)
        if run.writes:
            store.remove(run.work, channel, kind, name)
    return names
