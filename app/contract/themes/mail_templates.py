"""What a tenant's mails can use: the layout, and the blocks of each mail with their values (docs/theming.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from app.contract.messages.models import MailKind
from app.contract.themes.layout_templates import MAILS
from app.kit.templating import language
from app.kit.templating.blocks import blocks_of
from app.kit.templating.contract import Dialect, Items, Part, TemplateContract, TemplateProblem, Value, ValueKind
from app.kit.templating.mail_markup import MAIL, PARAGRAPHS, SENTENCE, TEXT

LAYOUT: Final = f"{MAILS}layout.html"
_Values = Mapping[str, Value | Items]
MailContracts = Mapping[str, Mapping[str, TemplateContract]]
"""What the blocks of mails can use, by the name of the mail's file and of the block."""


def _text(meaning: str) -> Value:
    return Value(ValueKind.TEXT, meaning)


_EVERYWHERE: Final[_Values] = {
    "name": _text("The tenant’s name."),
    "language": _text("The tag of the mail’s language, such as `en`."),
    "direction": _text("`ltr` or `rtl`."),
}
_OF_FRAME: Final[_Values] = {
    "sentence": _text("The theme’s sentence in the mail’s language."),
    "signature": _text("The theme’s signature."),
    "links": Items(
        {"text": _text("The link’s text."), "address": Value(ValueKind.ADDRESS, "Its address.")}, "The theme’s `links`."
    ),
}
_OF_EVERY_MAIL: Final[_Values] = {
    **_EVERYWHERE,
    "recipient": _text("The recipient’s first name; empty if it’s unknown."),
    "email": _text("The email address that the mail is about."),
    "has_link": Value(ValueKind.FLAG, "Whether the mail has a link."),
    "has_code": Value(ValueKind.FLAG, "Whether the mail has a code."),
    "expiry": _text("The sentence that says how long link and code work; empty without one."),
    "lifetime": _text("How long the link works, such as `30 minutes`; empty if it doesn’t expire."),
}
_OF_SOME: Final[_Values] = {
    "added_by": _text("The masked address of the account that adds the address."),
    "change": _text(
        "What happened, such as `added`, `removed`, `primary`, `refused`, `contested` or `record_lost`; it can be empty."
    ),
    "day": _text("The day of the deletion; empty if it’s unknown."),
    "device": _text("Browser and place of the request; empty if they’re unknown."),
    "domain": _text("The organization’s domain; in the mail about a webhook, the host that receives it."),
    "event": _text("The event that the webhook receives."),
    "failed_at": _text("When the theme failed."),
    "factor": _text("The kind of the method, such as `totp`, `sms` or `passkey`."),
    "inviter": _text("The name of the member who invites; empty if it’s unknown."),
    "organization": _text("The organization’s name."),
    "problem": _text("Why the theme failed."),
    "provider": _text("The name of the provider, such as `Google`."),
    "sign_in_name": _text(
        "What the account signs in with, if not `email`: a username, a number or a provider; otherwise empty."
    ),
    "theme_file": _text("The theme’s file that failed."),
    "username": _text("The username."),
    "webhook": _text("The webhook’s id."),
}
_BY_KIND: Final[Mapping[MailKind, str]] = {
    MailKind.WELCOME: "sign_in_name",
    MailKind.ADD_EMAIL: "added_by",
    MailKind.EMAIL_CHANGED: "change",
    MailKind.USERNAME_CHANGED: "username",
    MailKind.PHONE_CHANGED: "change",
    MailKind.FACTOR_ADDED: "factor",
    MailKind.FACTOR_REMOVED: "factor",
    MailKind.NEW_DEVICE: "change",
    MailKind.NEW_BROWSER: "change",
    MailKind.NEW_CITY: "change",
    MailKind.NEW_COUNTRY: "change",
    MailKind.NEW_IP: "change",
    MailKind.IDENTITY_LINKED: "provider",
    MailKind.IDENTITY_UNLINKED: "provider",
    MailKind.PIN_CHANGED: "change",
    MailKind.ACCOUNT_LEAVES: "day",
    MailKind.SMART_LOGIN: "device",
    MailKind.INVITATION: "inviter organization",
    MailKind.OWNER_ADDED: "inviter organization",
    MailKind.OWNERSHIP_CHANGED: "change organization",
    MailKind.JOIN_REQUESTED: "organization",
    MailKind.JOIN_APPROVED: "organization",
    MailKind.JOIN_DECLINED: "organization",
    MailKind.ORGANIZATION_DOMAIN: "change domain organization",
    MailKind.WEBHOOK_DISABLED: "domain event webhook",
    MailKind.THEME_FAILED: "failed_at problem theme_file",
}
"""The values that a mail has beside those of every mail: what its built-in template reads."""
OF_SUBJECTS: Final = frozenset({*_EVERYWHERE, "change", "domain", "factor", "organization", "provider"})
"""The values of a subject: the others could carry an address that mail programs make a link of."""
_SUPER: Final = {"super": Part("Ours.")}


BLOCKS: Final[Mapping[str, tuple[Dialect, str]]] = {
    "subject": (TEXT, "The subject, one line."),
    "preheader": (TEXT, "What mail programs show beside the subject."),
    "heading": (SENTENCE, "The heading."),
    "intro": (PARAGRAPHS, "What stands below the heading: paragraphs, lists, tables and pictures."),
    "action": (TEXT, "The words on the button. The button and its link are ours."),
    "lifetime": (SENTENCE, "The sentence below the button or code, on how long they work."),
    "asked": (SENTENCE, "The sentence about where the request came from."),
    "stranger": (SENTENCE, "What to do if it wasn’t you."),
}
"""The blocks of every mail, in their order: what they may have, and their meaning."""
REQUIRED: Final = frozenset({"subject", "heading", "intro", "action", "stranger"})
"""Blocks that must not become empty."""
LAYOUT_CONTRACT: Final = TemplateContract(
    values={**_EVERYWHERE, **_OF_FRAME},
    parts={
        "content": Part("The mail’s card: heading, sentences, button and code.", is_required=True),
        "reason": Part("Why the mail came: to which address, and from whom.", is_required=True),
        "mark": Part("The tenant’s logo and name."),
        "footer": Part("The signature and the links."),
    },
    dialect=MAIL,
)


def mails() -> Mapping[str, MailKind]:
    """Return the kind of each mail that a theme can have a template for, by the file's name."""
    return {f"{MAILS}{kind.name.lower()}.html": kind for kind in MailKind}


def names() -> tuple[str, ...]:
    """Return the names of all templates of mails."""
    return (LAYOUT, *mails())


def values_of_every_mail() -> _Values:
    """Return the values that every mail has."""
    return _OF_EVERY_MAIL


@lru_cache(maxsize=512)
def block_contract(kind: MailKind, block: str) -> TemplateContract:
    """Return what a block of a mail can use."""
    return contract_with({**_OF_EVERY_MAIL, **{name: _OF_SOME[name] for name in _BY_KIND.get(kind, "").split()}}, block)


def contract_with(values: _Values, block: str) -> TemplateContract:
    """Return what a block of a mail with these values can use."""
    if block == "subject":
        values = {name: value for name, value in values.items() if name in OF_SUBJECTS}
    return TemplateContract(values, _SUPER, dialect=BLOCKS[block][0])


def block_contracts(kind: MailKind) -> Mapping[str, TemplateContract]:
    """Return what each block of a mail can use."""
    return {block: block_contract(kind, block) for block in BLOCKS}


def mail_contracts() -> MailContracts:
    """Return what the blocks of each mail can use."""
    return {name: block_contracts(kind) for name, kind in mails().items()}


def problems(
    layout: TemplateContract, contracts: MailContracts, templates: Mapping[str, str], is_text: language.IsText
) -> Iterator[tuple[str, int, str]]:
    """Yield (template, line, what is expected) for what the mails among a theme's templates cannot have."""
    for name, source in templates.items():
        found: Iterable[TemplateProblem] = ()
        if name == LAYOUT:
            found = language.problems(source, layout, is_text)
        elif name in contracts:
            found = mail_problems(contracts[name], source, is_text)
        yield from ((name, problem.line, problem.sentence) for problem in found)


def mail_problems(
    contracts: Mapping[str, TemplateContract], source: str, is_text: language.IsText
) -> Iterator[TemplateProblem]:
    """Yield why a file cannot replace a mail's blocks, by block and line."""
    return language.problems_of_blocks(source, blocks_of(source), contracts, is_text)
