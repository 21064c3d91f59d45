"""Renders the pages of a theme, and finds what an attack could want in them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from app.commands.theme.folder import as_tenant
from app.contract.tenants.branding import Brand
from app.hub.rendering.page import all_pages
from app.hub.tenants.tenant import HubTenant
from app.hub.theme_check.document import PageDocument
from app.hub.theme_check.samples import PageSample, SamplePages
from app.identity.administration.configuration.file.theme import read_folder
from tests.support.hostile_themes.hostile_theme import HostileTheme

Shown = tuple[str, str, str]
"""A page, its state and its language."""
_OURS: Final = "ours.localhost"
_HOST: Final = "hostile.localhost"
_ADDRESSES: Final = ("href", "src", "srcset", "action", "formaction", "data", "poster", "background", "ping")
_LOADING: Final = ("script", "style", "base", "meta", "iframe", "object", "embed", "frame", "applet", "link", "form")
_URL: Final = re.compile(r"url\(\s*[\"']?([^\"')]*)")
_IN_SHEET: Final = ("@import", "<", "expression(", "javascript:", "behavior:", "-moz-binding")


class HostilePages:
    """A hub whose tenants have no theme and a hostile one."""

    def __init__(self) -> None:
        self._tenants: dict[str, HubTenant] = {_OURS: as_tenant(Brand(), "hostile")}
        self._pages = SamplePages(self._tenants)
        self._ours: dict[Shown, str] = {}

    def use(self, hostile: HostileTheme, folder: Path) -> Brand:
        """Give the tenant a theme that is accepted; return it."""
        hostile.write(folder)
        brand = read_folder.folder_of(folder).brand
        self._tenants[_HOST] = as_tenant(brand, "hostile")
        return brand

    def shown(self, brand: Brand) -> list[Shown]:
        """Return every state of the pages that a theme replaces, or some of every layout."""
        with self._pages.app.app_context():
            replaced = {page.__name__ for page in all_pages() if page.template in brand.templates}
        states = [(page, state, "en") for page, state in self._pages.names if page in replaced]
        return states or self.everywhere()

    def everywhere(self) -> list[Shown]:
        """Return pages with each layout: the first state of each."""
        first = dict(reversed(self._pages.names))
        return [
            (page, first[page], tag)
            for page in ("LoginPage", "RegisterPage", "ErrorPage", "ProfilePage")
            for tag in ("en", "de")
        ]

    def render(self, shown: Shown) -> PageSample:
        return self._pages.render(*shown, host=_HOST)

    def ours(self, shown: Shown) -> str:
        """Return the page without a theme."""
        if shown not in self._ours:
            self._ours[shown] = self._pages.render(*shown, host=_OURS).html
        return self._ours[shown]

    def style_sheets(self, page: PageSample) -> Iterator[str]:
        """Yield the theme's style sheets that a page names."""
        for link in PageDocument(page.html).all("link"):
            if (address := link.attributes.get("href", "")).startswith("/theme/"):
                yield (self._pages.file(address, _HOST) or b"").decode()


def harms(html: str, ours: str, allowed: Set[str] = frozenset()) -> list[str]:
    """Return what a page has beside ours that runs, sends or loads.

    Args:
        ours: the same page without a theme.
        allowed: hosts of pictures that the theme may name.
    """
    page, own = PageDocument(html), PageDocument(ours)
    found = [f"{word}: {item}" for word, item in _extra(page, own)]
    found += [f"host {host}" for host in sorted(_hosts(page) - _hosts(own) - allowed)]
    found += [problem for problem in page.problems if problem not in own.problems]
    for element in page.elements:
        found += [f"handler {name}" for name in element.attributes if name.startswith("on")]
        found += [f"script in {name}" for name, value in element.attributes.items() if _runs(value)]
    return found


def harms_of_sheet(css: str) -> list[str]:
    """Return what a style sheet has that runs or loads from another host."""
    found = [word for word in _IN_SHEET if word in css.lower()]
    return found + [url for url in _URL.findall(css) if not url.startswith(("/theme/", "data:image/", "data:font/"))]


def _extra(page: PageDocument, own: PageDocument) -> Iterator[tuple[str, str]]:
    """Yield elements that load, run or send and that are not on our page; a style sheet of the theme is none of them."""
    ours = [_facts(element.tag, element.attributes) for element in own.all(*_LOADING)]
    for element in page.all(*_LOADING):
        facts = _facts(element.tag, element.attributes)
        if facts in ours:
            ours.remove(facts)
        elif element.attributes.get("name") == "description" or (
            element.tag == "link" and element.attributes.get("href", "").startswith(("/theme/theme.", "data:image/svg"))
        ):  # the tenant's name is in it
            continue
        else:
            yield element.tag, str(facts)
    yield from (("missing", str(facts)) for facts in ours if facts[0] in {"form", "script"})


def _facts(tag: str, attributes: dict[str, str]) -> tuple[str, frozenset[tuple[str, str]]]:
    return tag, frozenset((name, value) for name, value in attributes.items() if name not in {"nonce", "class"})


def _hosts(page: PageDocument) -> set[str]:
    addresses = [value for element in page.elements for name, value in element.attributes.items() if name in _ADDRESSES]
    addresses += [url for style in page.all("style") for url in _URL.findall(style.text)]
    addresses += [url for element in page.elements for url in _URL.findall(element.attributes.get("style", ""))]
    return {urlsplit(address).netloc for address in addresses if "//" in address and not address.startswith("data:")}


def _runs(value: str) -> bool:
    return re.sub(r"[\s\x00-\x1f]", "", value).lower().startswith(("javascript:", "vbscript:", "data:text/html"))
