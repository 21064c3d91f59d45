"""A theme's scripts: on which pages they are, and their elements (decision 0421)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from markupsafe import Markup  # noqa: TID251 - each value is escaped here

from app.hub.web.short_links import is_short_link
from app.hub.web.visit import BRAND_PARAMETER, LANGUAGE_PARAMETER, Visit, current_visit

if TYPE_CHECKING:
    from app.contract.themes.theme_scripts import ScriptElement
    from app.hub.tenants.branding import PageBranding

_EVERYWHERE: Final = frozenset({LANGUAGE_PARAMETER, BRAND_PARAMETER})
_WORD: Final = re.compile(r"[A-Za-z0-9-]{0,40}")
"""Of a parameter's value: no script reads an address with anything longer, which could be a token."""


@dataclass(frozen=True)
class OwnScripts:
    """The elements on a page."""

    elements: tuple[ScriptElement, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        """The origins that scripts load from."""
        return tuple(dict.fromkeys(element.origin for element in self.elements if element.is_script))

    def markup(self, nonce: str) -> Markup:
        """Return the elements for the head. A script waits until the page is read, so that its host delays none."""
        return Markup("").join(_written(element, nonce) for element in self.elements)


class ScriptedPage(Protocol):
    """The attributes of a page that say whether it has scripts."""

    @property
    def scripted_at(self) -> Mapping[str, frozenset[str]]:
        """Paths where it may have scripts, each with the parameters that its address may have."""

    @property
    def shows_secret(self) -> bool:
        """Whether this state shows or takes what scripts must not see."""

    @property
    def brand(self) -> PageBranding:
        """The branding, with the scripts."""


def on_page(page: ScriptedPage) -> OwnScripts | None:
    """Return the scripts of the page's brand if its state, its address and the visit have nothing that they must not read."""
    visit = current_visit()
    parameters = page.scripted_at.get(visit.path)
    if parameters is None or page.shows_secret or visit.interaction is not None or visit.is_for_cache:
        return None
    return OwnScripts(page.brand.scripts) if _is_plain_address(visit, parameters | _EVERYWHERE) else None


def _is_plain_address(visit: Visit, names: frozenset[str]) -> bool:
    """Return whether the address has these parameters alone. Scripts read it, and that of a mailed link or a request has secrets."""
    if is_short_link(visit.environ):
        return False
    pairs = [pair.partition("=") for pair in visit.query_text.split("&")] if visit.query_text else []
    return all(name in names and _WORD.fullmatch(value) for name, _, value in pairs)


def _written(element: ScriptElement, nonce: str) -> Markup:
    attributes = dict(element.attributes)
    if element.is_script:
        attributes |= {"nonce": nonce} | ({} if "async" in attributes else {"defer": None})
    text = Markup("<{}").format(element.name)
    for name, value in attributes.items():
        text += Markup(" {}").format(name) if value is None else Markup(' {}="{}"').format(name, value)
    return text + (Markup("></script>\n") if element.is_script else Markup(">\n"))
