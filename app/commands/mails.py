"""gatehouse mail: sends samples of a tenant's emails, to see them in real mail programs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import click

from app.commands.errors import CommandError
from app.commands.theme.versions import of_theme, opened_look

if TYPE_CHECKING:
    from app.contract.messages.models import MailKind

_SAMPLE_HOST: Final = "https://acme.example.com"


@click.group
def mail() -> None:
    """Send a sample of a tenant's emails."""


@mail.command("test")
@click.argument("tenant")
@click.argument("name")
@click.argument("address")
@click.option("--language", "tag", default="en", show_default=True, help="The language of the email: en, de or ar.")
@click.option("--version", "number", type=click.IntRange(1), help="Default: the published version.")
@of_theme
def mail_test(tenant: str, name: str, address: str, tag: str, number: int | None, theme_name: str) -> None:
    """Send a sample of TENANT's email NAME to ADDRESS.

    NAME is that of the theme's file, such as reset. The names, the link and the code in the email are samples. The server
    sends it as every other email. With --version, it has the look of that version, which can be a draft.
    """
    from app.identity.administration.theme_versions import preview, publication
    from app.identity.messaging import messaging
    from app.identity.messaging.samples import EMAIL_SAMPLES
    from app.kit.text.languages import LANGUAGES

    kind = _kind_of(name)
    _refuse_unusable(address, tag)
    facts = next(iter(EMAIL_SAMPLES[kind].values()))
    with opened_look(tenant, theme_name) as (context, look):
        found = publication.version(context, look, number or look.version)
        branding = preview.branding_of(context, look, found)
        shown = replace(facts, url=facts.url.replace(_SAMPLE_HOST, context.pages_url))
        message = messaging.mail_sample(context, kind, address, shown, LANGUAGES[tag], branding)
        context.commit()
    click.echo(f"Queued “{message.subject}” for {address}. The server sends it.")
    if message.failure is not None:
        click.echo(f"It's Gatehouse's own, because a file of the theme failed: {message.failure}", err=True)


def _kind_of(name: str) -> MailKind:
    """Return the kind of a mail by the name of its template. Raises CommandError."""
    from app.contract.messages.models import MailKind
    from app.kit.near_names import near_name

    kinds = {kind.name.lower(): kind for kind in MailKind}
    if name not in kinds:
        near = near_name(name, kinds)
        raise CommandError(
            f"There's no email {name}. " + (f"Did you mean {near}?" if near else f"Choose one of: {', '.join(kinds)}.")
        )
    return kinds[name]


def _refuse_unusable(address: str, tag: str) -> None:
    """Raise CommandError for a language or an address that there is not."""
    from app.identity.directory.accounts import accounts
    from app.kit.text.languages import LANGUAGES

    if tag not in LANGUAGES:
        raise CommandError(f"There's no language {tag}. Choose one of: {', '.join(LANGUAGES)}.")
    if not accounts.is_email(address):
        raise CommandError(f"{address} is no email address.")
