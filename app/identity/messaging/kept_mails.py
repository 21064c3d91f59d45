"""Built-in mails that differ only in the recipient's values: rendered once with holes, then filled in (decisions/0302).

Only values that a template writes as they are can be holes: plain words, so that text in two directions, breaks of lines and
the collapsing of spaces do not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from markupsafe import escape

from app.identity.messaging.message import Branding, Facts, RenderedMessage
from app.kit import randomness
from app.kit.lru_cache import LruCache

_MOST_KEPT: Final = 256
_MARK: Final = f"hole-{randomness.token()}-"
"""How a hole begins while its mail is rendered; nobody can write it into a name."""


class Origin(NamedTuple):
    """The sentences about the request that led to a mail; empty where its browser is unknown."""

    asked_by: str
    changed_by: str


Render = Callable[[Facts, Origin], RenderedMessage]


def filled(
    kind: Hashable, branding: Branding, facts: Facts, origin: Origin, tag: str, render: Render
) -> RenderedMessage:
    """Return the mail of this kind in the language of `tag`. `render` is called for the first of those that are alike."""
    words = {"to": facts.to, "url": facts.url, "otp": facts.otp, "email": facts.email, "username": facts.username}
    if not (_has_no_names(facts) and all(map(_is_word, words.values()))):
        return render(facts, origin)
    values = words | origin._asdict()
    look = branding.name, branding.origin, branding.brand.model_dump_json()
    key = (kind, tag, look, facts.minutes, facts.otp_minutes, facts.factor, facts.change, *map(bool, values.values()))
    kept = _kept.get(key)
    if kept is None:
        marks = {name: f"{_MARK}{name}-" if value else "" for name, value in values.items()}
        mail = render(_shape(facts, marks), Origin(marks["asked_by"], marks["changed_by"]))
        kept = replace(mail, text=_with_places(mail.text, marks), html=_with_places(mail.html, marks))
        _kept.put(key, kept)
    text = kept.text % {name: " ".join(value.split()) for name, value in values.items()}
    html = kept.html % {name: escape(value) if value else "" for name, value in values.items()}
    return RenderedMessage(kept.subject, text, html, kept.language)


def _has_no_names(facts: Facts) -> bool:
    """Return whether a mail says nothing that people have named, and nothing of a device or a day."""
    named = facts.added_by, facts.device, facts.provider, facts.organization, facts.domain, facts.organization_logo
    return not any((*named, facts.organization_color, facts.inviter, facts.until))


def _shape(facts: Facts, marks: Mapping[str, str]) -> Facts:
    """Return the facts of all mails that are alike."""
    return Facts(
        marks["to"],
        url=marks["url"],
        otp=marks["otp"],
        email=marks["email"],
        username=marks["username"],
        minutes=facts.minutes,
        otp_minutes=facts.otp_minutes,
        factor=facts.factor,
        change=facts.change,
    )


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


def _with_places(text: str, marks: Mapping[str, str]) -> str:
    """Return a part with holes as a format string."""
    text = text.replace("%", "%%")
    for name, mark in marks.items():
        text = text.replace(mark, f"%({name})s") if mark else text
    return text


_kept: Final[LruCache[Hashable, RenderedMessage]] = LruCache(_MOST_KEPT)
