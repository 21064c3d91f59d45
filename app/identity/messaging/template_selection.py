"""Which of a tenant's own templates speaks: by the name that was asked for, in the language of the letter."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from app.contract.messages import MailKind, SmsKind
from app.identity.messaging import store
from app.identity.messaging.tenant_templates import TenantTemplate, tenant_template
from app.identity.platform.context import Context
from app.kit.languages import LANGUAGES, Language


@dataclass(frozen=True)
class SelectedTemplate:
    """A template, its name and the language that it is written in; without a template where it cannot be read."""

    name: str
    language: Language
    template: TenantTemplate | None
    problem: str = ""


StoredTemplates = Mapping[str, tuple[TenantTemplate | None, str]]
"""The active templates of one kind by name; where one cannot be read, why."""


def select(
    context: Context, kind: MailKind | SmsKind, asked: str | None, language: Language
) -> SelectedTemplate | None:
    """Return the template that speaks, or None where the tenant states none.

    Of the name that was asked for, else of the kind's default: the one in this language, in the tenant's, without a language.
    """
    kept = _stored_templates(context, kind)
    own_language = LANGUAGES.get(context.tenant.settings.default_locale, language)
    for name in filter(None, (asked, f"{kind}-default")):
        if found := match_language(kept, name, language, own_language):
            return SelectedTemplate(*found, *kept[found[0]])
    return None


def match_language(
    names: Container[str], name: str, language: Language, default: Language
) -> tuple[str, Language] | None:
    """Return which of the templates of that name speaks, and its language; one without a language is in the tenant's."""
    for one in (language, default):
        if (found := f"{name}-{one.tag}") in names:
            return found, one
    return (name, LANGUAGES.get(name.rpartition("-")[2], default)) if name in names else None


def _stored_templates(context: Context, kind: MailKind | SmsKind) -> StoredTemplates:
    """Read once for each version of the tenant."""
    channel = store.MAIL if isinstance(kind, MailKind) else store.SMS
    key = (context.tenant.tenant_id, context.tenant.version, channel, kind.value)
    held: StoredTemplates | None = context.services.message_templates.get(key)
    if held is None:
        rows = store.contents(context.work, channel, kind.value)
        held = {name: _read(channel, kind.value, name, content) for _, name, content in rows if _is_active(content)}
        context.services.message_templates.put(key, held)
    return held


def _is_active(content: Mapping[str, object]) -> bool:
    return content.get("is_active", True) is True


def _read(channel: str, kind: str, name: str, content: Mapping[str, object]) -> tuple[TenantTemplate | None, str]:
    """Read a template as strictly as when it was stated: a later version may refuse what an earlier one took."""
    try:
        made = tenant_template(store.template_of(channel, kind, name, content))
        wrong = [f"{key}: expected {sentence}" for key, sentence in made.problems(None)]
    except ValueError as problem:
        return None, f"{type(problem).__name__}"
    return (None, wrong[0]) if wrong else (made, "")
