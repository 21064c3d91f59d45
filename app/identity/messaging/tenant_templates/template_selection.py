"""Selects a tenant's own template by the requested name and the language of the message."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from app.contract.messages.models import MailKind, SmsKind
from app.identity.messaging.tenant_templates import template_store
from app.identity.messaging.tenant_templates.template_rendering import TenantTemplate, tenant_template
from app.identity.platform.context import Context
from app.kit.text.languages import LANGUAGES, Language


@dataclass(frozen=True)
class SelectedTemplate:
    """A template, its name and language. `template` is None if the stored one is invalid; `problem` says why."""

    name: str
    language: Language
    template: TenantTemplate | None
    problem: str = ""


StoredTemplates = Mapping[str, tuple[TenantTemplate | None, str]]
"""The active templates of one kind by name, each with the reason if it is invalid."""


def select(
    context: Context, kind: MailKind | SmsKind, requested: str | None, language: Language
) -> SelectedTemplate | None:
    """Return the template to use, or None if the tenant has none.

    The requested name comes before the kind's default. For each name, the template in this language comes first, then in the
    tenant's default language, then without a language.
    """
    stored = _stored_templates(context, kind)
    default_language = LANGUAGES.get(context.tenant.settings.default_locale, language)
    for name in filter(None, (requested, f"{kind}-default")):
        if match := match_language(stored, name, language, default_language):
            return SelectedTemplate(*match, *stored[match[0]])
    return None


def has_any(context: Context, kind: MailKind | SmsKind) -> bool:
    """Return whether the tenant has a template of this kind, whatever its name and language."""
    return bool(_stored_templates(context, kind))


def match_language(
    names: Container[str], name: str, language: Language, default: Language
) -> tuple[str, Language] | None:
    """Return the name and language of the best template. One without a language counts as in the tenant's default language."""
    for tried in (language, default):
        if (localized := f"{name}-{tried.tag}") in names:
            return localized, tried
    return (name, LANGUAGES.get(name.rpartition("-")[2], default)) if name in names else None


def _stored_templates(context: Context, kind: MailKind | SmsKind) -> StoredTemplates:
    """Return the templates, cached for each version of the tenant."""
    channel = template_store.MAIL if isinstance(kind, MailKind) else template_store.SMS
    key = (context.tenant.tenant_id, context.tenant.version, channel, kind.value)
    cached: StoredTemplates | None = context.services.message_templates.get(key)
    if cached is None:
        rows = template_store.contents(context.work, channel, kind.value)
        cached = {name: _read(channel, kind.value, name, content) for _, name, content in rows if _is_active(content)}
        context.services.message_templates.put(key, cached, context.work, template_store.template_table)
    return cached


def _is_active(content: Mapping[str, object]) -> bool:
    return content.get("is_active", True) is True


def _read(channel: str, kind: str, name: str, content: Mapping[str, object]) -> tuple[TenantTemplate | None, str]:
    """Validate a stored template as strictly as a new one: this version may refuse what an earlier one accepted."""
    try:
        template = tenant_template(template_store.template_of(channel, kind, name, content))
        problems = [f"{key}: expected {sentence}" for key, sentence in template.problems(None)]
    except ValueError as problem:
        return None, f"{type(problem).__name__}"
    return (None, problems[0]) if problems else (template, "")
