"""gatehouse mail: sends samples of a tenant's emails, to see them in real mail programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import outside_requests

_ACTOR: Final = "command"
_SAMPLE_HOST: Final = "https://acme.example.com"


@click.group
def mail() -> None:
    """Send a sample of a tenant's emails."""


@mail.command("test")
@click.argument("tenant")
@click.argument("name")
@click.argument("address")
@click.option("--language", "tag", default="en", show_default=True, help="The language of the email: en, de or ar.")
def mail_test(tenant: str, name: str, address: str, tag: str) -> None:
    """Send a sample of TENANT's email NAME to ADDRESS.

    NAME is that of the theme's file, such as reset. The names, the link and the code in the email are samples. The server
    sends it as every other email.
    """
    from app.contract.messages.models import MailKind
    from app.identity.directory.accounts import accounts
    from app.identity.messaging import messaging
    from app.identity.messaging.samples import EMAIL_SAMPLES
    from app.kit.near_names import near_name
    from app.kit.text.languages import LANGUAGES

    kinds = {kind.name.lower(): kind for kind in MailKind}
    if name not in kinds:
        near = near_name(name, kinds)
        raise CommandError(
            f"There's no email {name}. " + (f"Did you mean {near}?" if near else f"Choose one of: {', '.join(kinds)}.")
        )
    if tag not in LANGUAGES:
        raise CommandError(f"There's no language {tag}. Choose one of: {', '.join(LANGUAGES)}.")
    if not accounts.is_email(address):
        raise CommandError(f"{address} is no email address.")
    facts = next(iter(EMAIL_SAMPLES[kinds[name]].values()))
    with open_services() as services, outside_requests(services, tenant) as context:
        context.audit.actor = _ACTOR
        shown = replace(facts, url=facts.url.replace(_SAMPLE_HOST, context.pages_url))
        subject = messaging.mail_sample(context, kinds[name], address, shown, LANGUAGES[tag])
        context.commit()
    click.echo(f"Queued “{subject}” for {address}. The server sends it.")
