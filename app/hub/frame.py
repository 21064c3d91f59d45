"""What surrounds each page: head, header, navigation, footer, and what templates see of the visit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from jinja2 import Template
from markupsafe import Markup  # noqa: TID251 - fragments and a number

from app.hub.brand import Brand, in_language
from app.hub.cookies import RelyingPartyLink, last_application
from app.hub.fragments import fragment, seen
from app.hub.locale import LANGUAGES, Language
from app.hub.short_links import PARAMETER, is_short_link
from app.hub.visit import Visit, current_visit
from app.kit.assets import Asset

if TYPE_CHECKING:
    from app.hub.page import Page

LANGUAGE_PARAMETER: Final = "lang"


@dataclass(frozen=True)
class Frame:
    """What layouts see beside the page's fields."""

    visit: Visit
    brand: Brand
    language: Language
    style: Asset
    script: Asset | None
    query: Mapping[str, int]

    def head(self, seconds: int) -> Markup:
        """Return what every page has in its head below the title; `seconds` is what the page counts down from, 0 for nothing."""
        script = self.script.name if self.script else ""
        count = Markup(".count{--from:%s}") % seconds if seconds else ""
        holes = {"nonce": self.visit.nonce, "count": count}
        return fragment("head", self.brand, self.style.name, script, holes=holes)

    def bar(self, application: Any) -> Markup:
        """Return what stands above an account page; `application` is the link back to an application."""
        return fragment("bar", self.brand, holes={"application": application})

    def tabs(self, section: str, *, to_do: object) -> Markup:
        """Return the navigation of the account pages; `to_do` is something if the security check-up has something to do."""
        has_organizations = self.has_organizations or section == "organizations"
        return fragment("tabs", self.brand, section, has_organizations, bool(to_do), holes={})

    @property
    def mark(self) -> Markup:
        """The tenant's logo and name."""
        return fragment("mark", self.brand, holes={})

    @property
    def footer(self) -> Markup:
        """The languages and the tenant's links."""
        return fragment("footer", self.brand, self.language, self._others, holes={"query": self._query})

    @property
    def scene(self) -> Markup:
        """What stands beside the form."""
        tag = self.language.tag
        sentence, signature = in_language(self.brand.sentence, tag), in_language(self.brand.signature, tag)
        return fragment("scene", self.brand, sentence, signature, holes={})

    @cached_property
    def application(self) -> RelyingPartyLink | None:
        """The application that this browser signed in to last; the account pages lead back to it."""
        return last_application()

    @property
    def has_organizations(self) -> bool:
        """Whether the account area has the tab Organizations."""
        tenant = self.visit.tenant
        return tenant.has_organizations and (self.visit.has_organizations or tenant.creates_organizations)

    @property
    def _others(self) -> tuple[Language, ...]:
        """The tenant's other languages."""
        tags = self.visit.tenant.languages
        return tuple(LANGUAGES[tag] for tag in tags if tag in LANGUAGES and tag != self.language.tag)

    @property
    def _query(self) -> str:
        """The address of this page in another language but for its tag; it repeats only the parameters of `Page.query`."""
        visit, lengths = current_visit(), self.query
        given, is_short = visit.query, is_short_link(visit.environ)
        names = [name for name in lengths if name in given and (name != PARAMETER or not is_short)] if given else []
        query = [(name, value) for name in names if 0 < len(value := given[name]) <= lengths[name]]
        if visit.interaction and "attempt" not in given:
            query.append(("attempt", visit.interaction.id))
        return f"?{urlencode([*query, (LANGUAGE_PARAMETER, '')], errors='replace')}"


@dataclass(frozen=True)
class Rendering:
    """What a page's template and its macros see beside the page's fields."""

    page: Page
    frame: Frame
    brand: Brand

    def filled(self, template: Template, view: Mapping[str, Any]) -> str:
        """Return the template rendered with the page's fields."""
        token = seen.set(self)
        try:
            return template.render(view, page=self.page, frame=self.frame, brand=self.brand)
        finally:
            seen.reset(token)
