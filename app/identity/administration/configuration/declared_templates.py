"""What is wrong with the mails and text messages that a configuration file states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.contract.messages import MailTemplate, SmsTemplate
from app.contract.tenant_file import ConfigurationFile, TenantFile
from app.identity.administration.configuration.document import Document
from app.identity.administration.configuration.problems import Path
from app.identity.messaging import store
from app.identity.messaging.tenant_templates import tenant_template

KEYS = {store.MAIL: "mail_templates", store.SMS: "sms_templates"}


def problems(stated: ConfigurationFile, document: Document) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with the templates of a file; custom fields that it does not state are looked at when it is applied."""
    for at, tenant in enumerate(stated.tenants):
        known = tenant.settings.custom_fields if tenant.settings else None
        seen: dict[tuple[str, str, str], Path] = {}
        for channel, path, template in listed(tenant, ("tenants", at)):
            yield from wrong(template, path, known)
            first = seen.setdefault((channel, template.type, template.known_as), path)
            if first != path:
                line = document.line_of(first)
                yield (*path, "name"), f"stands twice for {template.type}; expected it once (see line {line})"


def listed(tenant: TenantFile, path: Path) -> Iterator[tuple[str, Path, MailTemplate | SmsTemplate]]:
    """Yield the templates of a tenant with their channel and where they stand."""
    for channel, key in KEYS.items():
        for number, template in enumerate(getattr(tenant, key) or ()):
            yield channel, (*path, key, number), template


def wrong(template: MailTemplate | SmsTemplate, path: Path, known: Sequence[str] | None) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with one template."""
    for key, sentence in tenant_template(template).problems(known):
        yield (*path, key), f"expected {sentence}"
