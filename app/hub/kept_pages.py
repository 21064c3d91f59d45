"""First pages of a visit that are kept, so that they need neither Flask nor a thread (decisions/0277).

Only pages that `page.render_cached` makes are kept, and only for browsers whose cookies they do not depend on. What is
fresh in each visit (nonce, CSRF token, the browser's secret, the interaction's id) is filled in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from wsgiref.types import WSGIApplication

from flask import Flask
from werkzeug.sansio.http import parse_cookie

from app.hub.interaction import Interaction
from app.hub.page import GZIP, SHELL
from app.hub.safety import FormTokens
from app.hub.services import Services
from app.hub.visit import Visit
from app.kit.kept_answers import Asked, Headers, KeptAnswers, Ready
from app.kit.shells import Shell

PATHS: Final = frozenset({"/login", "/register", "/forgot-password"})
_ATTEMPT: Final = re.compile(r"attempt=([A-Za-z0-9_-]{1,64})")
_OURS: Final = "gatehouse-"
"""In the names of all cookies that the hub reads."""
_EXTENSION: Final = "gatehouse.kept_pages"


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page, its headers, and where those hold values of the visit."""

    shell: Shell
    headers: tuple[tuple[str, str, bool], ...]
    """Name, value, and whether the value has holes, each the name of a value in braces."""


class KeptPages(KeptAnswers[KeptPage]):
    """Keeps the pages by tenant, language, application and address."""

    def __init__(self, app: WSGIApplication, services: Services, tokens: FormTokens, *, is_off: bool) -> None:
        super().__init__(app)
        self._services = services
        self._tokens = tokens
        self._is_off = is_off
        self._browser_cookie, self._interactions = services.browser_cookie, services.interactions

    @classmethod
    def install(cls, app: Flask) -> None:
        """Put it before an application; in development each page is rendered anew."""
        services, tokens = app.extensions["gatehouse"], app.extensions["gatehouse.form_tokens"]
        kept = cls(app.wsgi_app, services, tokens, is_off=app.jinja_env.auto_reload)
        app.extensions[_EXTENSION] = app.wsgi_app = kept  # type: ignore[method-assign]  # Flask's own way to add middleware

    @classmethod
    def of(cls, app: Flask) -> KeptPages:
        """Return what `install` put before the application."""
        kept: KeptPages = app.extensions[_EXTENSION]
        return kept

    def asked(self, environ: Mapping[str, Any]) -> Asked | None:
        path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
        if path not in PATHS or self._is_off:
            return None
        host = environ.get("HTTP_HOST", "").lower()
        tenant, named = self._services.tenancy.fresh(host), _ATTEMPT.fullmatch(query)
        cookies = parse_cookie(environ.get("HTTP_COOKIE", ""))
        if tenant is None or (query and named is None) or not all(map(self._is_harmless, cookies)):
            return None
        interaction = self._interactions.read(cookies, tenant.name, named[1]) if named else None
        if named and not self._is_first_page_of(interaction):
            return None
        scheme, binding = environ["wsgi.url_scheme"], cookies.get(self._browser_cookie, "")[:64]
        visit = Visit(tenant=tenant, interaction=interaction, host=host, scheme=scheme, binding=binding)
        language = visit.language_for(environ.get("HTTP_ACCEPT_LANGUAGE", ""))
        shown = (interaction.application, interaction.redirect_scheme, interaction.display) if interaction else None
        is_compressed = GZIP in environ.get("HTTP_ACCEPT_ENCODING", "")
        key = (scheme, host, path, language.tag, is_compressed, bool(binding), shown)
        return Asked(key, (tenant,), (visit, is_compressed))

    def kept(self, environ: Mapping[str, Any], headers: Headers, body: Iterable[bytes]) -> KeptPage | None:
        del body
        made: tuple[Shell, dict[str, str]] | None = environ.get(SHELL)
        return KeptPage(made[0], tuple(_with_holes(headers, made[1]))) if made is not None else None

    def filled(self, answer: KeptPage, asked: Asked) -> Ready | None:
        facts: tuple[Visit, bool] = asked.facts
        visit, is_compressed = facts
        attempt, binding, shell = visit.interaction_id or "", visit.binding_secret, answer.shell
        token = self._tokens.make(visit.tenant.name, attempt, binding)
        values = {"nonce": visit.nonce, "token": token, "attempt": attempt, "binding": binding}  # the last only if new
        if not shell.fits(values):
            return None
        headers = [(name, text.format_map(values) if has_holes else text) for name, text, has_holes in answer.headers]
        return Ready(headers, shell.compressed(values) if is_compressed else shell.filled(values))

    def _is_harmless(self, cookie: str) -> bool:
        """Return whether the pages do not depend on a cookie, or only on what `asked` reads of it."""
        return _OURS not in cookie or cookie == self._browser_cookie or self._interactions.is_one(cookie)

    def _is_first_page_of(self, interaction: Interaction | None) -> bool:
        """Return whether the interaction is open, and prefills nothing."""
        return interaction is not None and interaction.expires_at > self._services.now() and not interaction.hint


def _with_holes(headers: Headers, values: Mapping[str, str]) -> Iterator[tuple[str, str, bool]]:
    """Yield each header, with the names of the visit's values in place of these."""
    for name, value in headers:
        if not any(each in value for each in values.values()):
            yield name, value, False
            continue
        text = value.replace("{", "{{").replace("}", "}}")
        for hole, each in values.items():
            text = text.replace(each, f"{{{hole}}}")
        yield name, text, True
