"""Pages that are the same for everybody who asks in the same way: rendered and compressed once, then only filled in.

    @pages.get("/login")
    def show_login() -> Response:
        ...                                     # checks, and the page of any other state
        return first_login_page(last_used())

    @cached_page("/login")
    def first_login_page(last_method: str) -> Page:
        return login_page(new_login_form(), last_key=last_method)

The arguments are the key, with the tenant's version, the language and what pages show of an application. The page is
rendered for a visit that holds nothing else, so nothing of a browser or person can be in what is cached (decision 0368).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from functools import update_wrapper
from typing import Any, Final

from flask import Response, current_app

from app.hub.locale import current_language
from app.hub.rendering.form import fresh_token
from app.hub.rendering.page import Page, accepts_gzip
from app.hub.tenants.tenant import HubTenant
from app.hub.web.application import HubFlask
from app.hub.web.cached_responses import CachedResponse
from app.hub.web.cookies import cookies_of
from app.hub.web.services import services
from app.hub.web.visit import Visit, current_visit, set_current_visit
from app.kit import randomness
from app.kit.web.precompressed import PrecompressedText

_NONCE, _TOKEN, _INTERACTION = "nonce", "token", "interaction"
"""The slots: values that this service made, and none that a browser chose."""
_MARKS: Final = {_NONCE: randomness.token(12), _TOKEN: randomness.token(), _INTERACTION: randomness.token(48)}
"""What a page has in its slots while it is rendered, as long as the values are; nobody knows them."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
"""Long enough that its mark is nothing that a page has, and nothing to escape."""
_INTERACTION_ALONE: Final = re.compile(r"attempt=([A-Za-z0-9_-]{1,64})")


class CachedPage:
    """A function that returns a page, and that is called only if the page is not cached. Calling this returns the response."""

    def __init__(self, make: Callable[..., Page], waits: Callable[[HubTenant], bool]) -> None:
        update_wrapper(self, make)
        self.make = make
        self.waits = waits

    def __call__(self, *arguments: Hashable) -> Response:
        visit = current_visit()
        interaction, tenant = visit.interaction, visit.tenant
        if interaction is not None and not _ID.fullmatch(interaction.id):
            return self.make(*arguments).render()
        shown = (
            (interaction.application, interaction.redirect_scheme, interaction.display, len(interaction.id))
            if interaction is not None
            else None
        )
        key = (self.make, arguments, tenant.name, tenant.version, current_language().tag, shown)
        cache, is_on = services().cached_pages, not current_app.jinja_env.auto_reload
        cached = cache.get(key) if is_on else None
        if cached is None:
            cached = self._render(arguments, visit)
            if is_on:
                cache.put(key, cached)
        values = {_NONCE: visit.nonce, _TOKEN: fresh_token(), _INTERACTION: interaction.id if interaction else ""}
        return cached.response(values, is_compressed=accepts_gzip())

    def _render(self, arguments: tuple[Hashable, ...], visit: Visit) -> CachedResponse:
        """Render the page for a visit that has what the key has, and marks in place of what is fresh."""
        marks = dict(_MARKS)
        anonymous = Visit(tenant=visit.tenant, form_token=marks[_TOKEN])
        anonymous.nonce = marks[_NONCE]
        if visit.interaction is None:
            del marks[_INTERACTION]
        else:
            marks[_INTERACTION] = marks[_INTERACTION][: len(visit.interaction.id)]
            anonymous.interaction = visit.interaction.anonymous(marks[_INTERACTION])
        set_current_visit(anonymous)
        try:
            response = self.make(*arguments).render()
        finally:
            set_current_visit(visit)
        headers = (_with_slots(*header, marks) for header in response.headers)
        return CachedResponse(PrecompressedText.of(response.get_data(as_text=True), marks), tuple(headers))


def _with_slots(name: str, value: str, marks: Mapping[str, str]) -> tuple[str, str, bool]:
    if not any(mark in value for mark in marks.values()):
        return name, value, False
    value = value.replace("%", "%%")
    for slot, mark in marks.items():
        value = value.replace(mark, f"%({slot})s")
    return name, value, True


_PAGES: Final[dict[str, CachedPage]] = {}
"""By path, as they are declared."""


def cached_page(
    *paths: str, waits: Callable[[HubTenant], bool] = lambda _: False
) -> Callable[[Callable[..., Page]], CachedPage]:
    """Declare a page to be cached; its arguments are hashable, and it reads nothing else of the visit's browser.

    Args:
        paths: addresses whose view answers with this page a visit that has no session, and calls no operation for it.
        waits: whether the view calls one all the same at this tenant.
    """

    def declare(make: Callable[..., Page]) -> CachedPage:
        page = CachedPage(make, waits)
        _PAGES.update(dict.fromkeys(paths, page))
        return page

    return declare


def is_answered_from_cache(app: HubFlask, environ: Mapping[str, Any]) -> bool:
    """Return whether a request is for a page that needs no call: no session, nothing to reopen, and a tenant in memory."""
    page = _PAGES.get(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "GET" else None
    if page is None or not (app.is_loaded or app.has_view(environ)):
        return False
    shared, sent = app.shared, environ.get("HTTP_COOKIE", "")
    tenant = shared.tenancy.fresh(environ.get("HTTP_HOST", "").lower())
    if tenant is None or page.waits(tenant) or shared.session_cookie in sent:
        return False
    query = environ["QUERY_STRING"]
    named = _INTERACTION_ALONE.fullmatch(query)
    if named is None:
        return not query
    interaction = shared.interactions.read(cookies_of(environ), tenant.name, named[1])
    return interaction is not None and interaction.expires_at > shared.now()
