"""A person's texts on a page that is otherwise the same for everybody at a tenant: it is kept with holes for them (decisions/0302).

    texts = PersonalTexts()
    return ProfilePage(account=texts.hole(view.person.label), ...).render(texts=texts)

The page has holes instead of the texts. So nothing of the person is in what is kept or in what it is kept by, and a template
can write such a text but not look at it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Final

from flask import current_app
from markupsafe import Markup, escape  # noqa: TID251 - texts are escaped here, once

from app.hub import locale
from app.hub.forms.base import fresh_token
from app.hub.fragments import Kept
from app.hub.services import services
from app.hub.visit import Visit, current_visit, set_current_visit
from app.kit import randomness

_MARK: Final = f"text-{randomness.token()}-"
"""How a hole begins in a page; no text can hold it."""
_NONCE, _TOKEN, _ATTEMPT, _UID = "nonce", "token", "attempt", "uid"
"""The holes of the visit: of its policy, its forms, its interaction, and of the account that its forms are for."""


class Hole:
    """The place of a text on a page."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __html__(self) -> str:
        return _mark(self.name)

    __str__ = __html__


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

    def fill(self, page: Hashable, render: Callable[[], str]) -> str:
        """Return a page with these texts.

        Args:
            page: what it is kept by, beside tenant, language and application; None if it has more of the person than these texts.
            render: renders it for the current visit, with the holes.
        """
        visit = current_visit()
        if page is None or not _is_alike_for_all(visit):
            return _with_places(render(), self._texts) % self._texts
        kept: Kept = current_app.extensions["gatehouse.fragments"]
        application = visit.interaction.application if visit.interaction else None
        of_tenant = visit.tenant.name, visit.tenant.version, locale.current_language().tag, visit.has_organizations
        key = (page, *of_tenant, application, bool(visit.shown_uid))
        text = kept.get(key)
        if text is None:
            text = _with_places(_render_anonymously(visit, render), [_NONCE, _TOKEN, _ATTEMPT, _UID, *self._texts])
            kept.put(key, text)
        token = fresh_token() if f"%({_TOKEN})s" in text else ""  # a page without a form binds none to the browser
        own = {_ATTEMPT: escape(visit.interaction_id or ""), _UID: escape(visit.shown_uid)}
        return text % {_NONCE: visit.nonce, _TOKEN: token, **own, **self._texts}


def _is_alike_for_all(visit: Visit) -> bool:
    """Return whether a page's frame has nothing of the visit but what has a hole: no parameter, no way back to an application."""
    own = {_ATTEMPT} if visit.interaction else set()
    is_bare = visit.query.keys() <= own and services().last_application_cookie not in visit.cookies
    return is_bare and not current_app.jinja_env.auto_reload


def _render_anonymously(visit: Visit, render: Callable[[], str]) -> str:
    """Render a page for a visit that has nothing of the browser or the person, so that nothing of them can be kept."""
    anonymous = Visit(tenant=visit.tenant, has_organizations=visit.has_organizations, form_token=_mark(_TOKEN))
    anonymous.nonce, anonymous.named_uid = _mark(_NONCE), _mark(_UID) if visit.shown_uid else ""
    if visit.interaction:
        anonymous.interaction = visit.interaction.anonymous(_mark(_ATTEMPT))
    set_current_visit(anonymous)
    try:
        return render()
    finally:
        set_current_visit(visit)


def _mark(name: str) -> str:
    return f"{_MARK}{name}-"


def _with_places(text: str, names: Iterable[str]) -> str:
    """Return a page with holes as a format string."""
    text = text.replace("%", "%%")
    for name in names:
        text = text.replace(_mark(name), f"%({name})s")
    return text
