"""Draws our own mails, from `templates/mails/`: one file of sentences for each kind, one layout for HTML and one for text."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from html import escape
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup  # noqa: TID251 - for what markup.py wrote anew from checked parts

from app.contract.messages import MailKind
from app.identity.messaging.message import MOST_SUBJECT_LETTERS, Branding, Facts, RenderedMessage, one_line
from app.kit.colour import Colour
from app.kit.languages import Language, catalogue
from app.kit.palette import palette
from app.settings import ROOT

_FOLDER: Final = ROOT / "templates" / "mails"
_HTML, _TEXT, _FRAME = "layout.html", "layout.txt", "frame.html"
_FONT: Final = (
    "overflow-wrap:anywhere;word-break:break-word;"
    "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Noto Sans Arabic',Arial,sans-serif;"
)
_NEUTRAL: Final = {
    "ground": ("#f5f6f8", "#171920"),
    "card": ("#ffffff", "#20232c"),
    "ink": ("#15171c", "#f2f3f6"),
    "muted": ("#565d6d", "#a6acba"),
    "line": ("#e3e5ea", "#2f333d"),
    "note": ("#f1f3f7", "#2b303b"),
}
"""Light and dark, as in `static/css/tokens.css`."""


def render(kind: MailKind, look: Branding, facts: Facts, language: Language) -> RenderedMessage:
    """Return the mail of this kind, both parts."""
    subject = _subject(kind, look, language)
    html = _render(_HTML, kind, look, facts, language).strip() + "\n"
    text = collapse_blank_lines(_render(_TEXT, kind, look, facts, language))
    return RenderedMessage(subject, text, html, language.tag)


def _subject(kind: MailKind, look: Branding, language: Language) -> str:
    template = _template(kind, language.tag, _TEXT)
    scope = template.new_context({"tenant": look.tenant, "layout": _TEXT})
    return one_line("".join(template.blocks["subject"](scope)), MOST_SUBJECT_LETTERS)


def _render(layout: str, kind: MailKind, look: Branding, facts: Facts, language: Language) -> str:
    return _template(kind, language.tag, layout).render(
        **_layout_values(look, language),
        layout=layout,
        name=facts.name,
        url=facts.url,
        otp=facts.otp,
        email=facts.email or facts.to,
        username=facts.username,
        added_by=facts.added_by,
        device=facts.device,
        factor=facts.factor,
        provider=facts.provider,
        good_for=validity_sentence(facts, language.tag),
    )


def validity_sentence(facts: Facts, tag: str) -> str:
    """Return the sentence that says how long link and code are good; empty where nobody said."""
    t = catalogue(tag)
    link = format_duration(facts.minutes, tag) if facts.url and facts.minutes else ""
    minutes = facts.otp_minutes or facts.minutes
    code = format_duration(minutes, tag) if facts.otp and minutes else ""
    if link and code and link != code:
        words = t.gettext("The link works once and is good for %(link_time)s, the code is good for %(code_time)s.")
        return str(words) % {"link_time": link, "code_time": code}
    if link and code:
        words = t.gettext("Link or code, one of them is enough. Both are good for %(time)s.")
    elif link:
        words = t.gettext("The link works once and is good for %(time)s.")
    else:
        words = t.gettext("The code works once and is good for %(time)s.")
    return str(words) % {"time": link or code} if link or code else ""


def format_duration(minutes: int, tag: str) -> str:
    """Return a time as people say it: minutes up to two hours, hours up to two days, then days."""
    t = catalogue(tag)
    if minutes >= 2 * 24 * 60 and minutes % (24 * 60) == 0:
        count = minutes // (24 * 60)
        words = t.npgettext("span", "%(num)d day", "%(num)d days", count)
    elif minutes >= 60 and minutes % 60 == 0:
        count = minutes // 60
        words = t.npgettext("span", "%(num)d hour", "%(num)d hours", count)
    else:
        count = minutes
        words = t.npgettext("span", "%(num)d minute", "%(num)d minutes", count)
    return str(words) % {"num": count}


def render_in_frame(look: Branding, language: Language, subject: str, card: str) -> str:
    """Return the document whose card holds a tenant's own paragraphs: the frame of our own mails."""
    frame = _environment(language.tag, is_html=True).get_template(_FRAME)
    return frame.render(**_layout_values(look, language), subject=subject, card=Markup(card)).strip() + "\n"  # noqa: S704 - as above


def element_styles(look: Branding) -> dict[str, str]:
    """Return the attributes that make elements look like ours, by element or class: mail programs read styles nowhere else."""
    shades, radius = _shades(look.brand.color), look.radius
    ink, muted, link = (shades[name][0] for name in ("ink", "muted", "link"))
    words = f"margin:0 0 14px;font-size:16px;line-height:25px;color:{ink}"
    styles = {
        "h1": f"{_FONT}margin:0 0 18px;font-size:25px;line-height:33px;font-weight:700;color:{ink}",
        "h2": f"{_FONT}margin:26px 0 12px;font-size:19px;line-height:26px;font-weight:700;color:{ink}",
        "p": _FONT + words,
        "ul": _FONT + words,
        "ol": _FONT + words,
        "a": f"color:{link}",
        "small": f"{_FONT}margin:0 0 14px;font-size:13px;line-height:20px;color:{muted}",
        "button": f"{_FONT}display:inline-block;padding:14px 26px;font-size:16px;line-height:22px;font-weight:600;"
        f"text-decoration:none;border-radius:{radius}px;border:1px solid {shades['edge'][0]};"
        f"background:{shades['brand'][0]};color:{shades['on_brand'][0]}",
        "code": f"margin:0 0 26px;padding:14px 18px;background:{shades['note'][0]};border-radius:{radius}px;"
        "font-family:ui-monospace,'SF Mono',Consolas,'Liberation Mono',monospace;font-size:34px;line-height:42px;"
        f"font-weight:700;letter-spacing:6px;text-align:center;color:{ink}",
    }
    return {element: escape(style) for element, style in styles.items()}


def _layout_values(look: Branding, language: Language) -> dict[str, Any]:
    """What every mail of a tenant shares."""
    return {
        "language": language,
        "look": look,
        "tenant": look.tenant,
        "shades": _shades(look.brand.color),
        "signature": one_line(look.brand.signature or "", MOST_SUBJECT_LETTERS),
        "links": _links(look, language.tag),
    }


def _links(look: Branding, tag: str) -> list[tuple[str, str]]:
    gettext = catalogue(tag).gettext
    labels = {"privacy": gettext("Privacy"), "terms": gettext("Terms"), "help": gettext("Help")}
    return [(label, look.brand.links[kind]) for kind, label in labels.items() if look.brand.links.get(kind)]


@cache
def _shades(colour: str) -> dict[str, tuple[str, str]]:
    """Each shade in light and in dark, as readable as on the pages."""
    measured = {
        name.removeprefix("--").replace("-", "_"): (str(light), str(dark))
        for name, (light, dark) in palette(str(Colour.parse(colour))).items()
    }
    return {**measured, **_NEUTRAL}


def _template(kind: MailKind, tag: str, layout: str) -> Template:
    return _environment(tag, layout == _HTML).get_template(f"{kind.name.lower()}.html")


@cache
def _environment(tag: str, is_html: bool) -> Environment:
    """One for each language and part: a template is compiled once for good, with its sentences bound."""
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=is_html,  # noqa: S701 - the other part is plain text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.install_gettext_translations(catalogue(tag), newstyle=True)  # type: ignore[attr-defined]  # the extension adds it
    made.filters["sentence"] = lambda words: type(words)(" ".join(words.split()))
    made.globals["bdi"] = _isolation(made, is_html)
    return made


def _isolation(made: Environment, is_html: bool) -> Callable[[str], Any]:
    """Names of another script must not turn the sentence around them."""
    if is_html:
        bdi: Callable[[str], Any] = made.from_string(
            "{% macro bdi(text) %}<bdi>{{ text }}</bdi>{% endmacro %}"
        ).module.bdi  # type: ignore[attr-defined]  # made by the template
        return bdi
    return lambda text: text if text.isascii() else f"\u2068{text}\u2069"


def collapse_blank_lines(text: str) -> str:
    """Return a plain text with at most one empty line between paragraphs, however many conditions stood there."""
    lines = [line.strip() for line in text.strip().splitlines()]
    kept = [line for number, line in enumerate(lines) if line or lines[number - 1]]
    return "\n".join(kept) + "\n"
