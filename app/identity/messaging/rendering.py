"""Renders the built-in mails from `templates/mails/`: one file of sentences for each kind, a layout for HTML and one for text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from html import escape
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from babel.dates import format_date, format_skeleton, format_time, get_datetime_format
from babel.support import NullTranslations
from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from jinja2.runtime import Context
from markupsafe import Markup  # noqa: TID251 - for templates of ours and escaped values

from app.contract.messages.models import MailKind
from app.contract.tenants.branding import own_colours
from app.contract.tenants.tenant_pages import MAX_THEME_FAILURE, MAX_THEME_FILE
from app.identity.messaging.message import (
    MAX_SUBJECT_LENGTH,
    Branding,
    MessageFacts,
    RenderedMessage,
    ThemeFileFailed,
    isolated,
    one_line,
    safe_name,
    unlinked,
)
from app.kit.design.colour import Colour
from app.kit.design.fonts import font_stack
from app.kit.design.palette import SHAPE, Pair, palette
from app.kit.package_files import TEMPLATES
from app.kit.text.languages import LANGUAGES, Language
from app.kit.text.tenant_texts import NO_TEXTS, TenantTexts
from app.kit.text.typography import unbroken
from app.kit.web.host_names import readable

if TYPE_CHECKING:
    from app.identity.messaging.theme_mails import OwnBlocks, OwnMail

_FOLDER: Final = TEMPLATES / "mails"
_HTML, _TEXT, _FRAME = "layout.html", "layout.txt", "frame.html"
_FONTS: Final = "-apple-system,'Segoe UI',Roboto,Inter,system-ui,'Noto Sans','Noto Sans Arabic',Arial,sans-serif"
_NEW_SIGN_INS: Final = frozenset(
    {MailKind.NEW_DEVICE, MailKind.NEW_BROWSER, MailKind.NEW_CITY, MailKind.NEW_COUNTRY, MailKind.NEW_IP}
)
_ADDRESSES: Final = ("to", "email", "username", "added_by", "domain")
_GROUNDS: Final = {
    "card": ("raised", "raised"),
    "note": ("surface", "surface"),
    "line": ("hairline", "hairline"),
}
"""The tokens of a mail's grounds in light and in dark mode: the card lies on a ground that is darker than it."""
_BLANK: Final = Markup("&zwnj;&nbsp;" * 90)  # noqa: S704 - a constant
"""What follows the preview, so that mail programs show nothing else beside it."""


def render(kind: MailKind, branding: Branding, facts: MessageFacts, language: Language) -> RenderedMessage:
    """Return the mail of this kind in HTML and plain text: by the tenant's theme, or ours if that fails."""
    facts = replace(facts, **{name: readable(getattr(facts, name)) for name in _ADDRESSES})
    if not branding.brand.templates:
        return _rendered(kind, branding, facts, language, None)
    from app.identity.messaging import theme_mails  # noqa: PLC0415 - only themes with templates need it

    try:
        return _rendered(kind, branding, facts, language, theme_mails.own_mail(branding.brand.templates, kind))
    except ThemeFileFailed as failure:
        return replace(_rendered(kind, branding, facts, language, None), failure=failure)


def _rendered(
    kind: MailKind, branding: Branding, facts: MessageFacts, language: Language, own: OwnMail | None
) -> RenderedMessage:
    """Return the mail with what a theme has for it. Raises ThemeFileFailed."""
    values, of_subject = values_of(kind, branding, facts, language), _subject_values(branding, facts, language)
    blocks = own.with_values(branding, facts, language, values, of_subject) if own else None
    if own:
        values |= {"own_blocks": own.blocks, "own_layout": own.around(branding, language, values["links"])}
    html, text = (
        "".join(template.root_render_func(_context(template, {**values, "layout": layout}, blocks, layout)))
        for layout in (_HTML, _TEXT)
        for template in (_template(kind, branding.texts, language.tag, layout),)
    )
    template = _template(kind, branding.texts, language.tag, _TEXT)
    scope = _context(template, {**of_subject, "layout": _TEXT}, blocks, _TEXT)
    subject = one_line("".join(scope.blocks["subject"][0](scope)), MAX_SUBJECT_LENGTH)
    return RenderedMessage(subject, collapse_blank_lines(text), html.strip() + "\n", language.tag)


def _context(template: Template, values: dict[str, Any], blocks: OwnBlocks | None, layout: str) -> Context:
    """Return a template's context, in which a theme's blocks stand before ours."""
    context = template.new_context(values)
    if blocks is not None:
        blocks.put_before_ours(context, is_html=layout == _HTML)
    return context


def _subject_values(branding: Branding, facts: MessageFacts, language: Language) -> dict[str, str]:
    """Return the values of a subject, which keeps no invisible characters, so that nothing in it may become a link."""
    known = {"factor": facts.factor, "provider": facts.provider, "change": facts.change}
    return {
        "tenant": branding.tenant(language.tag),
        "domain": facts.domain,
        "organization": safe_name(facts.organization),
        **known,
    }


def values_of(kind: MailKind, branding: Branding, facts: MessageFacts, language: Language) -> dict[str, Any]:
    """Return the values of a mail's templates."""
    chosen = branding.texts.catalogue(language.tag)
    return dict(
        **_layout_values(branding, language, facts.organization_color),
        to=facts.to,
        url=facts.url,
        otp=facts.otp,
        email=facts.email or facts.to,
        username=facts.username,
        sign_in_name=facts.sign_in_name,
        added_by=facts.added_by,
        device=facts.device,
        seen=sign_in_lines(facts, language.tag, chosen) if kind in _NEW_SIGN_INS else [],
        factor=facts.factor,
        provider=facts.provider,
        change=facts.change,
        organization=facts.organization,
        domain=unlinked(facts.domain),
        event=facts.event,
        webhook=facts.webhook,
        theme_file=unlinked(facts.theme_file, MAX_THEME_FILE),
        problem=unlinked(facts.problem, MAX_THEME_FAILURE),
        failed_at=_format_moment(facts.failed_at, language.tag) if facts.failed_at else "",
        organization_logo=facts.organization_logo,
        inviter=facts.inviter,
        day=format_day(facts.until, language.tag) if facts.until else "",
        lifetime=_span(facts.minutes, chosen) if facts.minutes else "",
        expiry=_expiry(facts, chosen) if facts.otp or facts.url else "",
        asked_by=origin_sentence(facts, language.tag, chosen),
        changed_by=origin_sentence(facts, language.tag, chosen, is_change=True),
        is_notice=False,  # unless the kind's template says so
    )


def _expiry(facts: MessageFacts, chosen: NullTranslations) -> str:
    """Return what stands below the code, the link, or both: how long they work; empty if that is unknown."""
    gettext, code_minutes = chosen.gettext, facts.otp_minutes or facts.minutes
    if facts.otp and facts.url and facts.minutes and code_minutes != facts.minutes:
        times = {"code": _span(code_minutes, chosen), "link": _span(facts.minutes, chosen)}
        return str(gettext("The code works for %(code)s, the link for %(link)s.")) % times
    minutes = code_minutes if facts.otp else facts.minutes
    return str(gettext("Expires in %(time)s")) % {"time": _span(minutes, chosen)} if minutes else ""


def format_duration(minutes: int, t: NullTranslations) -> str:
    """Return a duration in words of a catalogue: days from two whole days, hours for whole hours, else minutes."""
    if minutes >= 2 * 24 * 60 and minutes % (24 * 60) == 0:
        count = minutes // (24 * 60)
        text = t.npgettext("span", "%(num)d day", "%(num)d days", count)
    elif minutes >= 60 and minutes % 60 == 0:
        count = minutes // 60
        text = t.npgettext("span", "%(num)d hour", "%(num)d hours", count)
    else:
        count = minutes
        text = t.npgettext("span", "%(num)d minute", "%(num)d minutes", count)
    return str(text) % {"num": count}


def _span(minutes: int, t: NullTranslations) -> str:
    """Return a duration that stays on one line of a mail. SMS and tenants' placeholders keep ordinary spaces, as registered."""
    return unbroken(format_duration(minutes, t))


def format_day(instant: datetime, tag: str) -> str:
    """Return the date as pages write it."""
    return unbroken(format_date(instant, "long", locale=tag))


def origin_sentence(facts: MessageFacts, tag: str, chosen: NullTranslations, *, is_change: bool = False) -> str:
    """Return the sentence about the application, browser, place and time of the request; empty if the browser is unknown."""
    if not facts.browser or facts.requested_at is None:
        return ""
    gettext = chosen.gettext
    if is_change and facts.place:
        text = gettext("Changed in %(browser)s near %(place)s, %(time)s.")
    elif is_change:
        text = gettext("Changed in %(browser)s, %(time)s.")
    elif facts.application and facts.place:
        text = gettext("Requested for %(application)s from %(browser)s near %(place)s, %(time)s.")
    elif facts.application:
        text = gettext("Requested for %(application)s from %(browser)s, %(time)s.")
    elif facts.place:
        text = gettext("Requested from %(browser)s near %(place)s, %(time)s.")
    else:
        text = gettext("Requested from %(browser)s, %(time)s.")
    browser = facts.browser
    if facts.system:
        browser = gettext("%(browser)s on %(system)s") % {"browser": facts.browser, "system": facts.system}
    names = {"application": facts.application, "browser": browser, "place": facts.place}
    names["time"] = _format_moment(facts.requested_at.replace(second=0, microsecond=0), tag)
    return str(text) % {name: isolated(value, LANGUAGES[tag].direction) for name, value in names.items()}


def sign_in_lines(facts: MessageFacts, tag: str, chosen: NullTranslations) -> list[str]:
    """Return the known facts of a sign-in, one per line: browser, place, address and time."""
    client, *rest = facts.device.split(" · ")
    browser, _, system = client.partition(", ")
    if system:
        client = chosen.gettext("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return [client, *rest, *([_format_moment(facts.requested_at, tag)] if facts.requested_at else [])]


@lru_cache(maxsize=256)
def _format_moment(instant: datetime, tag: str) -> str:
    """Return a time in words, to the minute, that breaks between day and time alone; a mail says it in several sentences."""
    day, time = format_skeleton("yMMMd", instant, locale=tag), f"{format_time(instant, 'HH:mm', locale=tag)} UTC"
    return str(get_datetime_format(locale=tag)).format(unbroken(time), unbroken(day))


def render_in_frame(
    branding: Branding, language: Language, subject: str, card: str
) -> tuple[str, ThemeFileFailed | None]:
    """Return a document in the frame of the tenant's mails, around its own paragraphs, and why it has not the theme's layout."""
    frame = _environment(branding.texts, language.tag, is_html=True).get_template(_FRAME)
    values = {**_layout_values(branding, language), "subject": subject, "card": Markup(card)}  # noqa: S704 - as above
    failure = None
    if branding.brand.templates:
        from app.identity.messaging import theme_mails  # noqa: PLC0415 - as above

        try:
            around = theme_mails.own_layout(branding.brand.templates).around(branding, language, values["links"])
            return frame.render(values, own_layout=around).strip() + "\n", None
        except ThemeFileFailed as problem:
            failure = problem
    return frame.render(values).strip() + "\n", failure


def element_styles(branding: Branding) -> dict[str, str]:
    """Return the style attributes of the built-in mails by element or class. Mail programs ignore other style sheets."""
    shades, radius, font = _shades(_colours(branding)), branding.button_radius, _font(branding)
    ink, muted, link = (shades[name][0] for name in ("ink", "muted", "link"))
    text = f"margin:0 0 14px;font-size:16px;line-height:25px;color:{ink}"
    styles = {
        "h1": f"{font}margin:0 0 12px;font-size:24px;line-height:30px;font-weight:650;color:{ink}",
        "h2": f"{font}margin:24px 0 12px;font-size:18px;line-height:24px;font-weight:650;color:{ink}",
        "p": font + text,
        "ul": font + text,
        "ol": font + text,
        "a": f"color:{link}",
        "small": f"{font}margin:0 0 14px;font-size:13px;line-height:20px;color:{muted}",
        "button": f"{font}display:inline-block;padding:14px 26px;font-size:16px;line-height:22px;font-weight:600;"
        f"text-decoration:none;border-radius:{radius}px;border:1px solid {shades['link'][0]};"
        f"background:{shades['brand'][0]};color:{shades['on_brand'][0]}",
        "code": f"{font}margin:0 0 24px;padding:20px 8px;background:{shades['note'][0]};"
        f"border-radius:{branding.note_radius}px;font-size:34px;"
        f"line-height:38px;font-weight:650;letter-spacing:.14em;text-align:center;color:{ink}",
    }
    return {element: escape(style) for element, style in styles.items()}


def _layout_values(branding: Branding, language: Language, colour: str = "") -> dict[str, Any]:
    """Return the template values that all mails of a tenant share; `colour` replaces the tenant's."""
    colours = _colours(branding, colour)
    return {
        "language": language,
        "look": branding,
        "tenant": branding.tenant(language.tag),
        "light": _light_shades(colours),
        "font": Markup.escape(_font(branding)),
        "dark_styles": _dark_styles(colours),
        "blank": _BLANK,
        "signature": one_line(branding.signature(language.tag), MAX_SUBJECT_LENGTH),
        "links": _links(branding, language.tag),
        "own_blocks": {},
        "own_layout": None,
    }


def _links(branding: Branding, tag: str) -> list[tuple[str, str]]:
    gettext = branding.texts.catalogue(tag).gettext
    labels = {"privacy": gettext("Privacy"), "terms": gettext("Terms"), "help": gettext("Help")}
    return [(label, branding.brand.links[kind]) for kind, label in labels.items() if branding.brand.links.get(kind)]


class _Colours(NamedTuple):
    """The colours of a look: the brand, its own grounds in light and in dark mode, single colours, and `light` or `dark` for one mode."""

    brand: str
    ground: str = ""
    dark_ground: str = ""
    single: tuple[tuple[str, str, str], ...] = ()
    scheme: str = "auto"


def _colours(branding: Branding, colour: str = "") -> _Colours:
    brand = branding.brand
    grounds = (brand.background or "", brand.background_dark or "")
    return _Colours(colour or brand.color, *grounds, own_colours(brand.colors), brand.color_scheme)


def _font(branding: Branding) -> str:
    """Return the declarations of all text: the theme's fonts, or the device's."""
    fonts = font_stack(branding.brand.font) if branding.brand.font else _FONTS
    return f"overflow-wrap:anywhere;word-break:break-word;font-family:{fonts};"


@lru_cache(maxsize=256)
def _shades(colours: _Colours) -> dict[str, tuple[str, str]]:
    """Return each shade for light and dark mode, with the contrast of the pages; twice the same in mails of one mode."""
    at = {"light": (0, 0), "dark": (1, 1)}.get(colours.scheme, (0, 1))
    measured = {
        name.removeprefix("--").replace("-", "_"): (str(pair[at[0]]), str(pair[at[1]]))
        for name, pair in _palette(colours).items()
    }
    grounds = {name: (measured[light][0], measured[dark][1]) for name, (light, dark) in _GROUNDS.items()}
    light_ground = "canvas" if colours.ground else "surface"  # a white card needs a darker ground
    light, dark = (("canvas", light_ground)[each == 0] for each in at)
    rim = [_rim(measured["brand"][mode], grounds["card"][mode], measured["edge"][mode]) for mode in (0, 1)]
    return {**measured, **grounds, "ground": (measured[light][0], measured[dark][1]), "rim": (rim[0], rim[1])}


def _rim(fill: str, card: str, edge: str) -> str:
    """Return the border of a button: its fill, or a line around a fill that is hard to tell from the card."""
    return fill if Colour.parse(fill).contrast(Colour.parse(card)) >= SHAPE else edge


def _palette(colours: _Colours) -> Mapping[str, Pair]:
    brand = str(Colour.parse(colours.brand))
    if not colours.single:
        return palette(brand, colours.ground, colours.dark_ground)
    from app.kit.design.own_palette import own_palette

    return own_palette(brand, colours.ground, colours.dark_ground, colours.single)


@lru_cache(maxsize=256)
def _light_shades(colours: _Colours) -> SimpleNamespace:
    """Return the shades of light mode as attributes, which templates read faster than the items of a mapping."""
    return SimpleNamespace(**{name: light for name, (light, _) in _shades(colours).items()})


@lru_cache(maxsize=256)
def _dark_styles(colours: _Colours) -> Markup:
    """Return the rules of dark mode, which depend on the colours alone."""
    template = _environment(NO_TEXTS, "en", is_html=True).get_template("dark_styles.css")
    return Markup(template.render(shades=_shades(colours)))  # noqa: S704 - our own template, which escapes


def _template(kind: MailKind, texts: TenantTexts, tag: str, layout: str) -> Template:
    return _environment(texts, tag, layout == _HTML).get_template(f"{kind.name.lower()}.html")


@lru_cache(maxsize=64)
def _environment(texts: TenantTexts, tag: str, is_html: bool) -> Environment:
    """Return the environment of a tenant's texts, a language and a part, cached: a template is compiled once, with its translations."""
    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        auto_reload=False,
        autoescape=is_html,  # noqa: S701 - the other part is plain text
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    chosen = texts.catalogue(tag)
    escape: Callable[[Any], str] = Markup.escape if is_html else str
    environment.install_gettext_callables(  # type: ignore[attr-defined]  # the extension adds it
        gettext=lambda text: escape(chosen.gettext(text)),
        ngettext=lambda one, many, count: escape(chosen.ngettext(one, many, count)),
        pgettext=lambda context, text: escape(chosen.pgettext(context, text)),
        npgettext=lambda context, one, many, count: escape(chosen.npgettext(context, one, many, count)),
        newstyle=False,
    )
    environment.filters["sentence"] = lambda text: type(text)(" ".join(text.split()))
    environment.globals["bdi"] = _bdi if is_html else _isolated_in_text
    return environment


def _bdi(text: str) -> Markup:
    """Return a name in an element that keeps it from reordering the sentence around it."""
    return Markup(f"<bdi>{Markup.escape(text)}</bdi>")  # noqa: S704 - escaped


def _isolated_in_text(text: str) -> str:
    """Return a name or a date as plain text has it, with ordinary spaces: mail programs wrap it by themselves."""
    text = text.replace("\u00a0", " ")
    return text if text.isascii() else f"\u2068{text}\u2069"


def collapse_blank_lines(text: str) -> str:
    """Return a plain text with at most one empty line between paragraphs."""
    lines = [line.strip() for line in text.strip().splitlines()]
    remaining = [line for number, line in enumerate(lines) if line or lines[number - 1]]
    return "\n".join(remaining) + "\n"
