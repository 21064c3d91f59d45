"""A person's texts on a page that is otherwise the same for everybody at a tenant: it is kept with holes for them (decisions/0302).

    texts = PersonalTexts()
    return ProfilePage(account=texts.hole(view.person.label), ...).render(texts=texts)

The page has holes instead of the texts. So nothing of the person is in what is kept or in what it is kept by, and a template
can write such a text but not look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Final

from flask import current_app
from markupsafe import Markup, escape  # noqa: TID251 - texts are escaped here, once

from app.hub import locale
from app.hub.fragments import Kept
from app.hub.services import services
from app.hub.visit import Visit, current_visit, set_current_visit
from app.kit import randomness

_MARK: Final = f"text-{randomness.token()}-"
"""How a hole begins in a page; nobody can write it into a text."""
_NONCE: Final = "nonce"


class Hole:
    """The place of a text on a page."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __html__(self) -> str:
        return f"{_MARK}{self.name}-"


@cache
def _hole(name: str) -> Hole:
    return Hole(name)


class PersonalTexts:
    """The texts of one page, in the order of their holes."""

    def __init__(self) -> None:
        self._texts: dict[str, Markup] = {}

    def hole(self, text: str) -> Hole:
        """Take a text, which is escaped if it is no markup; return its place on the page."""
        name = str(len(self._texts))
        self._texts[name] = escape(text)
        return _hole(name)

    def fill(self, page: Hashable, render: Callable[[], str], *, is_kept: bool) -> str:
        """Return a page with these texts.

        Args:
            page: what it is kept by, beside tenant and language.
            render: renders it for the current visit, with the holes.
            is_kept: false where the page has more of the person than these texts.
        """
        visit = current_visit()
        if not (is_kept and _is_alike_for_all(visit)):
            return _with_places(render(), self._texts) % self._texts
        kept: Kept = current_app.extensions["gatehouse.fragments"]
        key = (page, visit.tenant.name, visit.tenant.version, locale.current_language().tag, visit.has_organizations)
        text = kept.get(key)
        if text is None:
            text = _with_places(_for_nobody(visit, render), {_NONCE: "", **self._texts})
            kept.put(key, text)
        return text % {_NONCE: visit.nonce, **self._texts}


def _is_alike_for_all(visit: Visit) -> bool:
    """Return whether the frame of an account page has nothing of the visit but its nonce: neither parameter nor application."""
    is_bare = visit.interaction is None and not visit.query and services().last_application_cookie not in visit.cookies
    return is_bare and not current_app.jinja_env.auto_reload


def _for_nobody(visit: Visit, render: Callable[[], str]) -> str:
    """Render a page for a visit that has nothing of the browser or the person, so that nothing of them can be kept."""
    nobody = Visit(tenant=visit.tenant, has_organizations=visit.has_organizations)
    nobody.nonce = _hole(_NONCE).__html__()
    set_current_visit(nobody)
    try:
        return render()
    finally:
        set_current_visit(visit)


def _with_places(text: str, names: dict[str, str] | dict[str, Markup]) -> str:
    """Return a page with holes as a format string."""
    text = text.replace("%", "%%")
    for name in names:
        text = text.replace(_hole(name).__html__(), f"%({name})s")
    return text
