"""The frame around each page: head, header, navigation, footer, and the visit's values for templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from flask_babel import pgettext
from jinja2 import Template
from jinja2.runtime import Context
from markupsafe import Markup  # noqa: TID251 - fragments and a number

from app.hub.locale import LANGUAGES, Language
from app.hub.rendering.assets import Assets
from app.hub.rendering.countdown import Countdown
from app.hub.rendering.fragments import FragmentArgument, fragment, template_view
from app.hub.tenants.branding import PageBranding, in_language
from app.hub.web.cookies import RelyingPartyLink, last_application
from app.hub.web.short_links import PARAMETER, is_short_link
from app.hub.web.visit import LANGUAGE_PARAMETER, Visit
from app.kit.web.assets import Asset

if TYPE_CHECKING:
    from app.hub.rendering.own_scripts import OwnScripts

OwnBlock = Callable[[Context], Iterator[str]]
"""Writes a tenant's own block, as Jinja calls one."""


class FramedPage(Protocol):
    """The attributes of a page that its frame needs."""

    @property
    def query(self) -> Mapping[str, int]:
        """Query parameters that the language links repeat, each with its maximum length."""

    @property
    def countdown(self) -> Countdown | None:
        """The wait that the page counts down."""

    @property
    def has_error(self) -> bool:
        """Whether the page reports an error."""

    @property
    def own_rules(self) -> tuple[str, ...]:
        """Style sheets that the document contains."""

    @property
    def own_tokens(self) -> str:
        """CSS rules with the tokens of a part of the page."""


@dataclass(frozen=True)
class Frame:
    """The template context of layouts, in addition to the page's fields."""

    page: FramedPage
    visit: Visit
    brand: PageBranding
    language: Language
    assets: Assets
    script: Asset | None
    own_scripts: OwnScripts | None = None
    """The theme's scripts on the page, as its policy has them."""

    def console(
        self, section: str, title: Any, main: Markup, *, has_to_do: object, back: Any, application: Any
    ) -> Markup:
        """Return an account page around its content.

        Args:
            has_to_do: whether the security check-up recommends an action.
            back: the link to the page above this one.
            application: the link back to an application.
        """
        has_organizations = self.has_organizations or section == "organizations"
        slots = {"application": application, "back": back, "main": main}
        return self._document("console", title, (section, has_organizations, bool(has_to_do)), slots)

    def split(self, title: Any, main: Markup, *, added: Any, application: Any, links: Any) -> Markup:
        """Return a page of a sign-in around its content.

        Args:
            added: markup at the end of the head.
            application: the text about the requesting application.
            links: the application's own links.
        """
        tag = self.language.tag
        if self.own_scripts is not None:
            added = Markup.escape(added) + self.own_scripts.markup(self.visit.nonce)
        beside = in_language(self.brand.sentence, tag), in_language(self.brand.signature, tag)
        slots = {"added": added, "application": application, "links": links, "main": main}
        return self._document("split", title, beside, slots)

    def workbench(self, title: Any, main: Markup) -> Markup:
        """Return a page of an operator's tool around its content: it belongs to no account and no sign-in."""
        return self._document("workbench", title, (), {"main": main})

    def _document(
        self,
        name: str,
        title: Any,
        arguments: tuple[FragmentArgument, ...],
        slots: dict[str, Any],
    ) -> Markup:
        """Return the macro of a complete document with slots."""
        page, script = self.page, self.script.name if self.script else ""
        slots["nonce"], slots["query"] = self.visit.nonce, self._query
        countdown = page.countdown
        counted = f".count{{--from:{int(countdown.seconds)}}}" if countdown else ""
        slots["rules"] = Markup(self.assets.rules(page.own_rules, self.brand.color_scheme) + page.own_tokens + counted)  # noqa: S704 - our own style sheets, colors and a number
        slots["title"] = pgettext("page title", "Error: %(title)s", title=title) if page.has_error else title
        return fragment(
            name,
            self.brand,
            self.language,
            self.assets.style(name, self.brand.color_scheme).name,
            script,
            self._others,
            *arguments,
            slots=slots,
        )

    @cached_property
    def application(self) -> RelyingPartyLink | None:
        """The application that this browser signed in to last; account pages link back to it."""
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
        """The address of this page in another language, without the language tag; it repeats only the parameters in the page's `query`."""
        visit, lengths = self.visit, self.page.query
        parameters, is_short = visit.query, is_short_link(visit.environ)
        names = (
            [name for name in lengths if name in parameters and (name != PARAMETER or not is_short)]
            if parameters
            else []
        )
        query = [(name, value) for name in names if 0 < len(value := parameters[name]) <= lengths[name]]
        if visit.interaction and "attempt" not in parameters:
            query.append(("attempt", visit.interaction.id))
        return f"?{urlencode([*query, (LANGUAGE_PARAMETER, '')], errors='replace')}"


@dataclass(frozen=True)
class Rendering:
    """The template context of a page, in addition to the page's fields."""

    page: FramedPage
    frame: Frame
    brand: PageBranding

    def render(self, template: Template, view: Mapping[str, Any], own: Mapping[str, OwnBlock] | None = None) -> str:
        """Return the template rendered with the page's fields.

        Jinja keeps the functions of a block in a list, the innermost template's first (`Context.blocks`): a tenant's own block
        stands before ours, so that ours is its `super()`.
        """
        token = template_view.set(self)
        try:
            context = template.new_context({**view, "page": self.page, "frame": self.frame, "brand": self.brand})
            for name, block in (own or {}).items():
                context.blocks[name].insert(0, block)
            return "".join(template.root_render_func(context))
        finally:
            template_view.reset(token)
