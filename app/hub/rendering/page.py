"""The base class of pages: the fields that a template sees, samples of every state, the response."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from flask import Response, current_app

from app.hub import locale
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.assets import Assets
from app.hub.rendering.countdown import Countdown
from app.hub.rendering.form import HubForm
from app.hub.rendering.frame import Frame, Rendering
from app.hub.rendering.own_layouts import report_failure
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.captcha_widget import WidgetView
from app.hub.web.cached_responses import GZIP, PageResponse
from app.hub.web.errors import shown_for
from app.hub.web.security_headers import content_security_policy
from app.hub.web.visit import Visit, current_visit
from app.kit.operations.errors import ApiError
from app.kit.web.urls import file_source

if TYPE_CHECKING:
    from app.hub.rendering.own_scripts import OwnScripts

HTML: Final = "text/html; charset=utf-8"


@dataclass(frozen=True)
class Notice:
    """A message above the form."""

    heading: Any
    text: Any = ""
    tone: str = "danger"
    """danger, ok or note."""
    reference: str = ""
    """The reference of the request that failed, for support; empty if it has none."""


RESUBMIT_NOTICE: Final = Notice(
    _l("We couldn’t verify your request"),
    _l("Allow cookies for this site, then try again."),
    "note",
)
"""Shown after a form with an invalid CSRF token, by `Page.notice` on every page."""


BLOCKED_NOTICE: Final = Notice(
    _l("Cookies are blocked"),
    _l("You can’t sign in without cookies. Allow cookies for this site in your browser’s settings, then try again."),
)


def form_notice(form: HubForm) -> Notice | None:
    """Return the notice of a form with an invalid CSRF token, or of a form that asks for the password first."""
    if form.is_first_prompt:
        return Notice(_l("Confirm it’s you"), _l("Enter your password to continue."), "note")
    if not form.is_token_invalid:
        return None
    visit = current_visit()
    return BLOCKED_NOTICE if visit.is_post and not visit.has_cookies else RESUBMIT_NOTICE


@dataclass(frozen=True)
class Page:
    """A page. Its template sees the fields of the subclass, `page`, `frame` and `brand`."""

    template: ClassVar[str]
    scripts: ClassVar[tuple[str, ...]] = ("focus", "once", "language")
    """Modules of `static/js` that this page runs."""
    query: ClassVar[Mapping[str, int]] = {"attempt": 64}
    """Query parameters that the language links repeat, each with its maximum length."""
    links_application: ClassVar[bool] = False
    """Whether the page ends with the links to the application's own privacy notice and terms."""
    allows_fetch: ClassVar[bool] = False
    """Whether the page's scripts may call the hub (CSP `connect-src`)."""
    refusals: ClassVar[Mapping[type[ApiError], Notice | Callable[[ApiError], Notice]]] = {}
    """The notice for each error that is about no field of the form, or a function that makes it of the error."""

    scripted_at: ClassVar[Mapping[str, frozenset[str]]] = {}
    """Paths where a theme's scripts may be on the page, each with the parameters that its address may have; by default nowhere."""

    required_blocks: ClassVar[frozenset[str]] = frozenset()
    """Blocks that a theme keeps on this page, beside those that it keeps on every page (`page_templates.BLOCKS`)."""

    page_notice: Notice | None = field(default=None, kw_only=True)
    """The page's own notice, shown unless the form has one."""

    @classmethod
    def samples(cls) -> Mapping[str, Self]:
        """Return the page in each of its states, by name."""
        raise NotImplementedError

    @property
    def _form(self) -> HubForm | None:
        """The field `form` of the subclass, if it has one."""
        form = getattr(self, "form", None)
        return form if isinstance(form, HubForm) else None

    @property
    def notice(self) -> Notice | None:
        """The message above the form: the form's own notice, else the page's."""
        notice = form_notice(self._form) if self._form is not None else None
        return notice or self.page_notice

    @property
    def has_error(self) -> bool:
        """Whether the page reports an error; its title then begins with it."""
        form = self._form
        is_refused = form is not None and bool(form.problems or form.form_errors)
        return is_refused or (self.notice is not None and self.notice.tone == "danger")

    @property
    def first_fields(self) -> tuple[str, ...]:
        """Names of fields: the first empty one gets the focus, unless a field with an error does."""
        return self._form.first_fields if self._form is not None else ()

    @property
    def countdown(self) -> Countdown | None:
        """The wait that the page counts down, if any."""
        return None

    @property
    def run(self) -> tuple[str, ...]:
        """Scripts that this state of the page runs."""
        return self.scripts if self.countdown is None or "wait" in self.scripts else (*self.scripts, "wait")

    @property
    def own_rules(self) -> tuple[str, ...]:
        """Files of `static/css` that few pages need: this page has them in its document, so that the others stay small."""
        return ()

    @property
    def own_tokens(self) -> str:
        """CSS rules with the tokens of a part of this page that has another brand."""
        return ""

    @property
    def form_targets(self) -> tuple[str, ...]:
        """Sources where redirects after this page's form may lead, beside the hub (CSP `form-action`)."""
        return interaction_redirect_targets(current_visit())

    @property
    def frame_sources(self) -> tuple[str, ...]:
        """Origins of the page's frames (CSP `frame-src`), beside a captcha provider's."""
        return ()

    @property
    def brand(self) -> PageBranding:
        """The branding of this page: the tenant's, with the look of the organization that the interaction is for."""
        return current_visit().brand

    @property
    def pictures(self) -> tuple[str, ...]:
        """Addresses of the page's external images."""
        return ()

    @property
    def widget(self) -> WidgetView | None:
        """The captcha provider's widget if this page shows it; the CSP allows the provider only then."""
        return self._form.provider_widget if self._form is not None else None

    @property
    def shows_secret(self) -> bool:
        """Whether this state of a page of `scripted_at` shows or takes what a theme's scripts must not see."""
        return self._form is not None

    @property
    def own_scripts(self) -> OwnScripts | None:
        """The theme's scripts on this page; None for almost every page (decision 0421)."""
        if not (self.scripted_at and self.brand.scripts):
            return None
        from app.hub.rendering.own_scripts import on_page  # noqa: PLC0415 - few pages have scripts

        return on_page(self)

    def html(self, own_scripts: OwnScripts | None = None) -> str:
        """Return the page rendered for the current visit, with the scripts that the policy of its response allows."""
        visit, brand = current_visit(), self.brand
        locale.use_language(locale.current_language(), brand.texts)
        for file, reason in brand.left_out:
            report_failure(brand, file, reason)
        if self._form is not None:
            self._form.set_focus(self.first_fields, is_wanted=self.notice is None)
        assets: Assets = current_app.extensions["gatehouse.assets"]
        scripts = tuple(
            name for part in self.run for name in ((part, "widget") if part == "work" and self.widget else (part,))
        )
        script = assets.script(scripts) if scripts else None
        frame = Frame(self, visit, brand, locale.current_language(), assets, script, own_scripts)
        rendering = Rendering(self, frame, brand)
        view = {item.name: getattr(self, item.name) for item in fields(self)}
        template = current_app.jinja_env.get_template(self.template)
        if self.template not in brand.templates.pages:
            return rendering.render(template, view)
        from app.hub.rendering.own_pages import own_blocks

        return rendering.render(template, view, own_blocks(self.template, rendering))

    def render(self, status: int = 200) -> Response:
        """Return the page as a response; compressed if the browser accepts gzip."""
        allows_fetch = self.allows_fetch or "poll" in self.run
        own_scripts = (
            self.own_scripts
        )  # asked once: elements beside a policy without their sandbox would run in our origin
        body, is_compressed = self.html(own_scripts).encode("utf-8", "replace"), accepts_gzip()
        return _response(
            compress(body) if is_compressed else body,
            status,
            self.form_targets,
            self.pictures,
            captcha_sources=self.widget.sources if self.widget else (),
            frame_sources=self.frame_sources,
            allows_fetch=allows_fetch,
            own_scripts=own_scripts,
            is_compressed=is_compressed,
        )

    def render_refusal(self, refusal: ApiError | None = None) -> Response:
        """Return the page with the refusal at its field of the form, or as a notice; None for a form that is invalid by itself.

        Raises the refusal if neither `refusals` has it: `exception_pages.py` has the error page.
        """
        page, form = self, self._form
        if refusal is None:
            return self.render(form.error_status if form is not None else 422)
        if form is None or not form.add_refusal(refusal):
            notice = shown_for(refusal, self.refusals)
            if notice is None:
                raise refusal
            page = replace(self, page_notice=notice if isinstance(notice, Notice) else notice(refusal))
        return with_retry_after(page.render(refusal.status), refusal)


def with_retry_after(response: Response, refusal: ApiError) -> Response:
    """Set `Retry-After` if the refusal names a wait (RFC 9110 §10.2.3); return the response."""
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def interaction_redirect_targets(visit: Visit) -> tuple[str, ...]:
    """Return the scheme of the interaction's final redirect; empty outside of an interaction."""
    return (visit.interaction.redirect_scheme,) if visit.interaction else ()


def provider_redirect_targets() -> tuple[str, ...]:
    """Return the sources after a form that leads to a provider: whole schemes, since the provider may redirect further."""
    return tuple(dict.fromkeys(("https:", f"{current_visit().scheme}:")))


def _response(
    body: bytes,
    status: int,
    form_targets: Iterable[str],
    pictures: Iterable[str] = (),
    *,
    captcha_sources: tuple[str, ...] = (),
    frame_sources: tuple[str, ...] = (),
    allows_fetch: bool = False,
    own_scripts: OwnScripts | None = None,
    is_compressed: bool,
) -> Response:
    visit = current_visit()
    brand = visit.brand
    application_logo = visit.interaction.logo if visit.interaction else ""
    images = {file_source(address) for address in (*brand.pictures, application_logo, *pictures) if "://" in address}
    fonts = (file_source(brand.font_file) if "://" in brand.font_file else "'self'",) if brand.font_file else ()
    fonts = tuple({*fonts, "'self'"}) if "@font-face" in brand.css else fonts
    policy = content_security_policy(
        visit.nonce,
        form_targets=form_targets,
        images=sorted(images),
        fonts=fonts,
        captcha_sources=captcha_sources,
        frame_sources=frame_sources,
        allows_fetch=allows_fetch,
        own_scripts=own_scripts.sources if own_scripts else None,
        own_connections=brand.script_origins if own_scripts else (),
    )
    response = PageResponse(body, status, content_type=HTML)
    response.headers.add("Vary", "Accept-Encoding, Accept-Language, Cookie")
    response.headers.add("Content-Language", locale.current_language().tag)
    response.headers.add("Content-Security-Policy", policy)
    if is_compressed:
        response.headers.add("Content-Encoding", "gzip")
    if own_scripts or (visit.interaction and visit.interaction.display == "popup"):
        # The page that opened the pop-up needs its reference to it; and browsers show no sandboxed page with another value.
        response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    return response


def accepts_gzip() -> bool:
    """Return whether the browser of this request reads gzip."""
    return GZIP in current_visit().environ.get("HTTP_ACCEPT_ENCODING", "")


_GZIP_HEADER: Final = 16
"""What zlib adds to the size of the window for the header and the trailer of gzip."""


def compress(body: bytes) -> bytes:
    """Compress with gzip at level 3: level 6 takes 1.5 times as long, and makes a page of 2.1 kB 90 bytes smaller.

    A window of 8 KiB sees most of a page, and takes a quarter of the memory that would be cleared for each response.
    """
    compressor = zlib.compressobj(3, zlib.DEFLATED, _GZIP_HEADER + 13, 6)
    return compressor.compress(body) + compressor.flush()


def all_pages(kind: type[Page] = Page) -> Iterator[type[Page]]:
    """Yield every page class, for the gallery and the page checks."""
    for page in sorted(kind.__subclasses__(), key=lambda subclass: subclass.__name__):
        if hasattr(page, "template"):
            yield page
        yield from all_pages(page)
