"""Renders the samples of every page in this process, without an identity service, and measures them."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Final
from urllib.parse import quote

from werkzeug.test import Client as WsgiClient
from werkzeug.test import TestResponse

from app.hub.assembly import make_app
from app.hub.client.theme_failures import ThemeFailureReports
from app.hub.gallery import OWN, SAMPLE_CACHE, all_samples
from app.hub.rendering.assets import Assets
from app.hub.rendering.compiled_templates import CompiledTemplates
from app.hub.tenants.tenant import HubTenant
from app.hub.tenants.tenant_cache import TenantCache
from app.hub.web.application import HubFlask
from app.hub.web.services import make_services
from app.kit.clock import Clock
from app.kit.operations.client import Client, ServiceUnavailable
from app.kit.package_files import STATIC
from app.kit.text.languages import LANGUAGES
from app.settings import Settings

FIRST_FLIGHT_BYTES: Final = 14_600
"""What a server sends before it waits for the first acknowledgment: ten segments of 1,460 bytes (RFC 6928)."""
SAMPLE_DOMAIN: Final = "localhost"
_CACHED_PAGES: Final = 2 * len(LANGUAGES)
"""Those whose samples are cached: of one page in all languages, of a theme and of ours beside it."""
_PART: Final = re.compile(r'(?:href|src)="(/(?:static|theme)/[^"]+\.(?:css|js))"')


@dataclass(frozen=True)
class PageSample:
    """A rendered page."""

    name: str
    """Page, state and language."""
    language: str
    html: str
    bytes_document: int
    """Size of the document with its inline parts, compressed."""
    bytes_all_in: int
    """Size of the document with its style sheets and script, compressed."""
    requests: int
    policy: str
    headers: dict[str, str]
    failures: tuple[tuple[str, str], ...] = ()
    """The files of the theme that the page has ours in place of, each with the reason."""


class _NotedFailures(ThemeFailureReports):
    """Notes the files of a theme that fail, instead of reporting them."""

    def __init__(self) -> None:
        super().__init__(lambda _: _no_client())
        self._noted: dict[str, str] = {}

    def add(self, tenant: str, version: str, digest: str, template: str, reason: str) -> None:  # noqa: ARG002 - of the base class
        self._noted.setdefault(template, reason)

    def take(self) -> tuple[tuple[str, str], ...]:
        """Return what failed since the last call."""
        taken, self._noted = tuple(self._noted.items()), {}
        return taken


class NotRendered(Exception):
    """A sample has no page; the text says why."""


class _SampleTenants(TenantCache):
    """The tenants of the samples, by host; no other host has one."""

    def __init__(self, tenants: Mapping[str, HubTenant]) -> None:
        super().__init__(_no_client)
        self._tenants = tenants

    def by_host(self, host: str, client: Callable[[], Client]) -> HubTenant:  # noqa: ARG002 - of the base class
        if (tenant := self._tenants.get(host)) is None:
            raise ServiceUnavailable
        return tenant


def _no_client() -> Client:
    raise ServiceUnavailable


@dataclass
class SamplePages:
    """A hub with its gallery and no identity service; unlike in development, its templates and assets do not change.

    Args:
        tenants: by host; the look `own` of a sample is the one of its host's tenant.
        clock: the system clock by default.
        files: a folder with a folder of theme files for each tenant; empty for none.
    """

    tenants: Mapping[str, HubTenant] = field(default_factory=dict)
    clock: Clock | None = None
    files: str = ""
    _weights: dict[tuple[str, str], int] = field(default_factory=dict)
    _failures: _NotedFailures = field(default_factory=_NotedFailures)

    @cached_property
    def app(self) -> HubFlask:
        """The application of the hub."""
        settings = Settings(
            secrets=(b"a secret of samples, which nothing keeps",), development=True, theme_files=self.files
        )
        services = replace(make_services(settings, None, self.clock, None), tenancy=_SampleTenants(self.tenants))
        vars(services)["theme_failures"] = self._failures  # in place of the cached property
        made = make_app(services)
        made.jinja_env.bytecode_cache = CompiledTemplates(made.jinja_env)
        made.jinja_env.auto_reload = False
        made.extensions["gatehouse.assets"] = Assets(STATIC)
        made.extensions[SAMPLE_CACHE] = lru_cache(_CACHED_PAGES)(lambda page, *_: page.samples())
        return made

    @cached_property
    def names(self) -> list[tuple[str, str]]:
        """The name of each page with each of its states."""
        with self.app.app_context():
            return [(page.__name__, state) for page, state in all_samples()]

    def render(self, page: str, state: str, language: str, look: str = OWN, host: str = SAMPLE_DOMAIN) -> PageSample:
        """Render a sample, and measure everything that a browser fetches for it, but pictures and fonts.

        Raises:
            NotRendered: the answer is no page.
        """
        self._failures.take()
        answer = self._get(sample_address(page, state, language, look), host)
        if answer.status_code != 200:
            raise NotRendered(f"the page answers {answer.status_code}")
        parts = _PART.findall(html := gzip.decompress(answer.data).decode())
        return PageSample(
            name=f"{page} {state} {language}",
            language=language,
            html=html,
            bytes_document=len(answer.data),
            bytes_all_in=len(answer.data) + sum(self._weight(part, host) for part in parts),
            requests=1 + len(parts),
            policy=answer.headers["Content-Security-Policy"],
            headers=dict(answer.headers),
            failures=self._failures.take(),
        )

    def file(self, path: str, host: str = SAMPLE_DOMAIN) -> bytes | None:
        """Return a file that a page loads; None if the host has no such file."""
        with self._get(path, host) as answer:
            if answer.status_code != 200:
                return None
            return gzip.decompress(answer.data) if answer.headers.get("Content-Encoding") == "gzip" else answer.data

    def _weight(self, part: str, host: str) -> int:
        """Return the compressed size of a style sheet or script."""
        if (host, part) not in self._weights:
            self._weights[host, part] = len(self._get(part, host).data)
        return self._weights[host, part]

    def _get(self, path: str, host: str) -> TestResponse:
        return self._client.get(path, base_url=f"http://{host}", headers={"Accept-Encoding": "gzip"})

    @cached_property
    def _client(self) -> WsgiClient:
        return WsgiClient(self.app, use_cookies=False)


def sample_address(page: str, state: str, language: str, look: str) -> str:
    """Return the address of a sample in the gallery."""
    return f"/_gallery/{page}/{quote(state)}?lang={language}&look={look}"
