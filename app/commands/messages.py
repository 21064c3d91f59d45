"""gatehouse mail and gatehouse sms: send samples of a tenant's messages, to see them in real mail programs and on real phones."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeVar

import click

from app.commands.errors import CommandError
from app.commands.theme.versions import of_theme, opened_look

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.identity.administration.theme_versions.publication import Look
    from app.identity.messaging.message import Branding, MessageFacts
    from app.identity.platform.context import Context

Kind = TypeVar("Kind", bound=Enum)
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
    from app.contract.messages.models import MailKind
    from app.identity.directory.accounts import accounts
    from app.identity.messaging import messaging
    from app.identity.messaging.samples import EMAIL_SAMPLES
    from app.kit.text.languages import LANGUAGES

    kind = _kind_of(name, MailKind, "email")
    _refuse_unknown_language(tag)
    if not accounts.is_email(address):
        raise CommandError(f"{address} is no email address.")
    with opened_look(tenant, theme_name) as (context, look):
        branding, facts = _branding(context, look, number), _facts(context, EMAIL_SAMPLES[kind])
        message = messaging.mail_sample(context, kind, address, facts, LANGUAGES[tag], branding)
        context.commit()
    click.echo(f"Queued “{message.subject}” for {address}. The server sends it.")
    if message.failure is not None:
        click.echo(f"It's Gatehouse's own, because a file of the theme failed: {message.failure}", err=True)


@click.group
def sms() -> None:
    """Send a sample of a tenant's text messages."""


@sms.command("test")
@click.argument("tenant")
@click.argument("name")
@click.argument("phone")
@click.option("--language", "tag", default="en", show_default=True, help="The language of the text: en, de or ar.")
@click.option("--version", "number", type=click.IntRange(1), help="Default: the published version.")
@of_theme
def sms_test(tenant: str, name: str, phone: str, tag: str, number: int | None, theme_name: str) -> None:
    """Send a sample of TENANT's text message NAME to PHONE.

    PHONE is a number with its country code, such as +4930123456. NAME is that of the message gallery, such as sign_in. The code and
    the link in the text are samples. The server sends it as every other text message. With --version, it has the name and the texts
    of that version, which can be a draft.
    """
    from app.contract import errors
    from app.contract.messages.models import SmsKind
    from app.identity.directory.accounts import identifiers
    from app.identity.messaging import messaging
    from app.identity.messaging.samples import SMS_SAMPLES
    from app.kit.text.languages import LANGUAGES

    kind = _kind_of(name, SmsKind, "text message")
    _refuse_unknown_language(tag)
    if (to := identifiers.normalize_phone(phone)) is None:
        raise CommandError(f"{phone} is no phone number. Write it with its country code, such as +4930123456.")
    with opened_look(tenant, theme_name) as (context, look):
        branding, facts = _branding(context, look, number), _facts(context, SMS_SAMPLES[kind])
        try:
            text = messaging.sms_sample(context, kind, to, facts, LANGUAGES[tag], branding)
        except errors.NoSmsConfiguration:
            raise CommandError("There's no sender of text messages. Set GATEHOUSE_SMS_URL.") from None
        context.commit()
    click.echo(f"Queued “{text.splitlines()[0]}” for {to}. The server sends it.")


def _branding(context: Context, look: Look, number: int | None) -> Branding:
    """Return what messages have of a version, by default of the published one."""
    from app.identity.administration.theme_versions import preview, publication

    return preview.branding_of(context, look, publication.version(context, look, number or look.version))


def _facts(context: Context, states: Mapping[str, MessageFacts]) -> MessageFacts:
    """Return the facts of a message's first sample, with its link on the tenant's host."""
    facts = next(iter(states.values()))
    return replace(facts, url=facts.url.replace(_SAMPLE_HOST, context.pages_url))


def _kind_of(name: str, known: type[Kind], noun: str) -> Kind:
    """Return the kind of a message by its name. Raises CommandError."""
    from app.kit.near_names import near_name

    kinds = {kind.name.lower(): kind for kind in known}
    if name not in kinds:
        near = near_name(name, kinds)
        raise CommandError(
            f"There's no {noun} {name}. " + (f"Did you mean {near}?" if near else f"Choose one of: {', '.join(kinds)}.")
        )
    return kinds[name]


def _refuse_unknown_language(tag: str) -> None:
    """Raise CommandError for a language that there is not."""
    from app.kit.text.languages import LANGUAGES

    if tag not in LANGUAGES:
        raise CommandError(f"There's no language {tag}. Choose one of: {', '.join(LANGUAGES)}.")
