"""A theme's own mails: its blocks stand before ours, as Jinja's inheritance has it, and its layout around the card.

The link and the code are ours alone: neither a block nor the layout has them, so none can lose or change them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from html import unescape
from typing import Any, Final

from jinja2.runtime import Context
from markupsafe import Markup  # noqa: TID251 - what checked templates wrote

from app.contract.messages.models import MailKind
from app.contract.themes import mail_templates  # noqa: TID253 - mails of themes alone load this module
from app.contract.themes.layout_templates import MAILS
from app.identity.messaging.message import Branding, MessageFacts, ThemeFileFailed, isolated
from app.kit.design import theme_file_names
from app.kit.templating import language
from app.kit.templating.blocks import blocks_of
from app.kit.templating.compiled import CompiledTemplate, TemplateFailed
from app.kit.text.languages import Language

_TAG: Final = re.compile(r'<(/?)([a-z0-9]+)((?:\s+[a-z-]+="[^"]*")*)\s*/?>')
_ATTRIBUTE: Final = re.compile(r'([a-z-]+)="([^"]*)"')
_SPACES: Final = re.compile(r"\s+")
_PARAGRAPHS: Final = frozenset(("blockquote", "center", "div", "h2", "h3", "hr", "ol", "p", "table", "tr", "ul"))
_NAMES: Final = ("added_by", "domain", "email", "inviter", "organization", "provider", "sign_in_name", "username")
"""Values that other people chose, which keep their own direction in a sentence."""
Text = Callable[..., str]


@dataclass(frozen=True)
class OwnMail:
    """What a theme has for one mail."""

    blocks: Mapping[str, CompiledTemplate] = field(default_factory=dict)
    layout: CompiledTemplate | None = None
    file: str = ""
    """The name of the file of the blocks."""

    def with_values(
        self,
        branding: Branding,
        facts: MessageFacts,
        language: Language,
        values: Mapping[str, Any],
        of_subject: Mapping[str, Any],
    ) -> OwnBlocks | None:
        """Return the blocks with the values of a message, to which these add; None without blocks."""
        if not self.blocks:
            return None
        known = _known(branding, facts, language)
        view = view_of(branding, facts, language, values)
        return OwnBlocks(self.file, self.blocks, view, {**known, **of_subject}, _texts(branding, language), branding)

    def around(
        self, branding: Branding, language: Language, links: Iterable[tuple[str, str]]
    ) -> Callable[..., Markup] | None:
        """Return what places our parts in the layout; None without one."""
        layout, text = self.layout, _texts(branding, language)
        if layout is None:
            return None
        view = layout_view(branding, language, links)

        def place(**parts: str) -> Markup:
            with _failing(mail_templates.LAYOUT):
                return Markup(absolute(layout.render(view, parts, text), branding))  # noqa: S704 - a checked template

        return place


def view_of(branding: Branding, facts: MessageFacts, language: Language, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the blocks of a mail see, of the values of our template."""
    names = {name: isolated(value, language.direction) for name in _NAMES if (value := values[name])}
    return {**values, **_known(branding, facts, language), **names}


def layout_view(branding: Branding, language: Language, links: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Return what the layout sees."""
    return {
        **_of_every_template(branding, language),
        "sentence": branding.sentence(language.tag),
        "signature": branding.signature(language.tag),
        "links": [{"text": label, "address": address} for label, address in links],
    }


def _known(branding: Branding, facts: MessageFacts, language: Language) -> dict[str, Any]:
    flags = {"has_link": bool(facts.url), "has_code": bool(facts.otp)}
    return {"recipient": facts.name, **flags, **_of_every_template(branding, language)}


def _of_every_template(branding: Branding, language: Language) -> dict[str, Any]:
    return {"name": branding.tenant(language.tag), "language": language.tag, "direction": language.direction}


def _texts(branding: Branding, language: Language) -> Text:
    return lambda key, **values: branding.texts.text_of(key, language.tag, values)


def own_mail(templates: Mapping[str, str], kind: MailKind) -> OwnMail:
    """Return what a theme has for a mail; each source is compiled once. Raises ThemeFileFailed.

    What was stored was checked, but an upgrade may have changed what a mail can use.
    """
    file = f"{MAILS}{kind.name.lower()}.html"
    with _failing(file):
        blocks = _blocks(kind, templates.get(file, ""))
    return OwnMail(blocks, own_layout(templates).layout, file)


def own_layout(templates: Mapping[str, str]) -> OwnMail:
    """Return the theme's layout of all mails. Raises ThemeFileFailed."""
    with _failing(mail_templates.LAYOUT):
        return OwnMail(layout=_layout(templates.get(mail_templates.LAYOUT, "")))


@contextmanager
def _failing(name: str) -> Iterator[None]:
    """Raise ThemeFileFailed where the template of this name fails."""
    try:
        yield
    except TemplateFailed as problem:
        raise ThemeFileFailed(f"templates/{name}", str(problem)) from problem


@dataclass(frozen=True)
class OwnBlocks:
    """The blocks of a theme's mail with the values of one message."""

    file: str
    blocks: Mapping[str, CompiledTemplate]
    view: Mapping[str, Any]
    of_subject: Mapping[str, Any]
    text: Text
    branding: Branding
    _markups: dict[str, str] = field(default_factory=dict)

    def put_before_ours(self, context: Context, *, is_html: bool) -> None:
        """Make the blocks the first ones of a context. Rendering then raises ThemeFileFailed where one fails."""
        for name, own in self.blocks.items():
            context.blocks.setdefault(name, []).insert(0, self._function(name, own, is_html=is_html))

    def _function(self, name: str, own: CompiledTemplate, *, is_html: bool) -> Callable[[Context], Iterator[str]]:
        def block(context: Context) -> Iterator[str]:
            if "super" not in own.names:  # the same in HTML and text
                if (markup := self._markups.get(name)) is None:
                    markup = self._markups[name] = self._markup(name, own, "")
            else:  # ours in HTML is marked as safe
                markup = self._markup(name, own, Markup.escape(context.super(name, block)()))
            yield markup if is_html else plain_text(markup)

        return block

    def _markup(self, name: str, own: CompiledTemplate, ours: str) -> str:
        view = self.of_subject if name == "subject" else self.view
        used = {each: view[each] for each in own.names if each in view}
        with _failing(self.file):
            markup = str(own.render(used, {"super": ours}, self.text))
            if name in mail_templates.REQUIRED and not markup.strip():
                raise TemplateFailed(f"nothing is left of the block {name}")
        return absolute(markup, self.branding)


def absolute(markup: str, branding: Branding) -> str:
    """Return own markup with absolute addresses. Only its attributes have them: quotes in values are escaped."""
    origin, files = branding.origin, branding.brand.files
    found = theme_file_names.in_template(str(markup), files) if files else str(markup)
    return found.replace('src="/', f'src="{origin}/').replace('href="/', f'href="{origin}/')


def plain_text(markup: str) -> str:
    """Return own markup as text, with the addresses of its links. The markup is that of `kit.templating`, complete and quoted."""
    if "<" not in markup:
        return unescape(markup)
    links: list[str] = []

    def text_of(tag: re.Match[str]) -> str:
        is_end, name, attributes = tag.groups()
        if name == "a" and is_end:
            return f" ({links.pop()})" if links else ""
        if name == "a":
            links.append(_attribute(attributes, "href"))
        elif name == "img":
            return _attribute(attributes, "alt")
        elif not is_end:
            return {"li": "\n- ", "br": "\n"}.get(name, "\n\n" if name in _PARAGRAPHS else "")
        return "\n\n" if name in _PARAGRAPHS else " " if name in ("td", "th") else ""

    return unescape(_TAG.sub(text_of, _SPACES.sub(" ", markup)))


def _attribute(attributes: str, name: str) -> str:
    found: dict[str, str] = dict(_ATTRIBUTE.findall(attributes))
    return found.get(name, "")


@lru_cache(maxsize=512)
def _usable_blocks(kind: MailKind, source: str) -> Mapping[str, CompiledTemplate] | str:
    """Return the blocks of a mail, or why they cannot be used."""
    contracts = mail_templates.block_contracts(kind)
    problem = next(mail_templates.mail_problems(contracts, source, lambda _: True), None)
    if problem is not None:
        return f"line {problem.line}: {problem.sentence}"
    try:
        return {
            name: CompiledTemplate(block.source, contracts[name]) for name, block in blocks_of(source).blocks.items()
        }
    except TemplateFailed as failure:
        return str(failure)


@lru_cache(maxsize=128)
def _usable_layout(source: str) -> CompiledTemplate | str | None:
    """Return the layout, or why it cannot be used; None without one."""
    if not source:
        return None
    if found := language.problems(source, mail_templates.LAYOUT_CONTRACT, lambda _: True):
        return f"line {found[0].line}: {found[0].sentence}"
    try:
        return CompiledTemplate(source, mail_templates.LAYOUT_CONTRACT)
    except TemplateFailed as failure:
        return str(failure)


def _blocks(kind: MailKind, source: str) -> Mapping[str, CompiledTemplate]:
    found = _usable_blocks(kind, source)
    if isinstance(found, str):
        raise TemplateFailed(found)
    return found


def _layout(source: str) -> CompiledTemplate | None:
    found = _usable_layout(source)
    if isinstance(found, str):
        raise TemplateFailed(found)
    return found
