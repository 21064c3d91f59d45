"""The gallery: every page in every state and language, for development, and for previews of themes (theme_preview.py)."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, current_app, render_template
from werkzeug.exceptions import NotFound

from app.contract.errors import UnknownTenant
from app.contract.tenants.brand_levels import ThemeNames
from app.hub import pages, setup_guide
from app.hub.locale import LANGUAGES, SOURCE
from app.hub.rendering.page import HTML, Page, accepts_gzip, all_pages, compress
from app.hub.tenants.branding import PageBranding
from app.hub.tenants.tenant import HubTenant, RegistrationView
from app.hub.thumbnails import GROUPS, Thumbnail, thumbnails
from app.hub.web.interaction import HubInteraction
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.client import ServiceUnavailable
from app.kit.text.tenant_texts import texts_of_keys

if TYPE_CHECKING:
    from app.hub.tenants.themes import Themes

_LINKS: Final = (("privacy", "/privacy"), ("terms", "/terms"), ("help", "/help"))

_PICTURE: Final = (
    "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%20800%20900'%20"
    "preserveAspectRatio='xMidYMid%20slice'%3E%3Cpath%20fill='%23f4d9b0'%20d='M0%200h800v900H0z'/%3E%3Ccircle%20cx='560'%20"
    "cy='250'%20r='90'%20fill='%23fff3d6'/%3E%3Cpath%20fill='%23b98a6a'%20d='M0%20520l230-210%20190%20160%20160-120%20220%20190v360H0z'/%3E"
    "%3Cpath%20fill='%235d6b4d'%20d='M0%20640l300-120%20260%20110%20240-90v360H0z'/%3E%3C/svg%3E"
)
"""A sample of a tenant's picture: hills."""


def _logo(colour: str) -> str:
    """Return a sample of a tenant's logo in a colour."""
    return (
        "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2028%2028'%20width='28'%20height='28'%3E"
        f"%3Ccircle%20cx='14'%20cy='14'%20r='12'%20fill='none'%20stroke='{colour}'%20stroke-width='3'/%3E%3C/svg%3E"
    )


TENANTS: Final = {
    "acme": PageBranding(
        "Acme",
        "#3c4bdc",
        sentence=(
            ("", "Everything your team ships, behind one door."),
            ("de", "Alles, was Ihr Team baut, hinter einer Tür."),
            ("ar", "كل ما يصنعه فريقك، خلف باب واحد."),
        ),
        signature=(("", "Acme Platform"), ("ar", "منصة Acme")),
        links=_LINKS,
    ),
    "globex": PageBranding(
        "Globex",
        "#0b7a5b",
        drawing="ridges",
        sentence=(
            ("", "Grow something good today."),
            ("de", "Lassen Sie heute etwas Gutes wachsen."),
            ("ar", "ازرع شيئًا جميلًا اليوم."),
        ),
        signature=(("", "Globex Gardens"),),
        links=_LINKS,
    ),
    "initech": PageBranding("Initech", "#a8245f", drawing="stairs", sentence=(("", "Small steps, every day."),)),
    "sunny": PageBranding(
        "Sunny",
        "#ffd400",
        drawing="gate",
        sentence=(("", "The bright side of booking."),),
        links=_LINKS,
        radius_pixels=4,
    ),
    "harbor": PageBranding(
        "Harbor",
        "#0b5c8a",
        scene="daylight",
        drawing="orbits",
        sentence=(("", "Every berth, every boat, one place."), ("ar", "كل رصيف وكل قارب في مكان واحد.")),
        links=_LINKS,
        button_shape="pill",
    ),
    "vista": PageBranding(
        "Vista",
        "#2f6b4f",
        scene="picture",
        picture=_PICTURE,
        sentence=(("", "The long way round is the better way."), ("ar", "الطريق الأطول هو الأجمل.")),
        signature=(("", "Vista Travel"),),
        links=_LINKS,
    ),
    "quiet": PageBranding(
        "Quiet",
        "#7a4a2b",
        scene="none",
        background="#faf6ee",
        background_dark="#17130f",
        font="Georgia,Noto Serif,serif",
        logo=_logo("%231c1712"),
        logo_dark=_logo("%23f4ede2"),
        button_shape="square",
        radius_pixels=4,
        links=_LINKS,
    ),
    "member": PageBranding("Acme", "#3c4bdc", links=_LINKS),
    "member-logo": PageBranding("Acme", "#3c4bdc", scene="none", links=_LINKS),
    "mono": PageBranding("Mono", "#000000", drawing="tiles", sentence=(("", "Less."),)),
    "paper": PageBranding("Paper", "#ffffff", sentence=(("", "A blank page."),)),
}
"""Sample brandings: common colours, and extreme ones."""

_SAMPLE_INTERACTION: Final = HubInteraction("sample", "binding", relying_party="Acme Shop", redirect_origin="https:")

_APPLICATION: Final = replace(
    _SAMPLE_INTERACTION,
    logo=_logo("%230b5c8a"),
    policy="https://shop.example.com/privacy",
    terms="https://shop.example.com/terms",
)
"""The same for an application with a logo and links of its own."""

_ORGANIZATION: Final = replace(_SAMPLE_INTERACTION, organization="Globex Gardens", organization_colour="#0b7a5b")
_WITH_LOGO: Final = replace(_ORGANIZATION, organization_logo=_logo("%230b7a5b"))
_INTERACTIONS: Final = {"harbor": _APPLICATION, "member": _ORGANIZATION, "member-logo": _WITH_LOGO}
"""Interactions of the tenants whose samples show more than the application's name."""


@cache
def pages_by_name() -> dict[str, type[Page]]:
    """Return every page class by its name."""
    for package in (pages, setup_guide):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    importlib.import_module("app.hub.theme_editor.page")
    return {page.__name__: page for page in all_pages()}


def all_samples() -> Iterator[tuple[type[Page], str]]:
    """Yield each page class with the name of each of its samples. Needs an application context."""
    for page in pages_by_name().values():
        for name in page.samples():
            yield page, name


SampleCache = Callable[[type[Page], str, str, str], Mapping[str, Page]]
"""Returns the samples of a page for a host, a look and a language."""
SAMPLE_CACHE: Final = "gatehouse.samples"
"""The application extension with a `SampleCache`: building the samples of a page takes as long as rendering some of them."""

KEYS: Final = "keys"
"""In place of a language: each text as its key, by which a theme replaces it."""
_LANGUAGES: Final = {tag: language.name for tag, language in LANGUAGES.items()} | {KEYS: "Keys of texts"}
OWN: Final = "own"
"""The look of the tenant whose host serves the gallery."""


def _own_tenant() -> HubTenant | None:
    """Return the tenant of the request's host, None if it has none or the identity service does not answer."""
    try:
        return services().tenancy.by_host(current_visit().host, api)
    except (UnknownTenant, ServiceUnavailable):
        return None


def _chosen_themes(known: Themes) -> ThemeNames:
    """Return the themes that the address names for the levels of a look."""
    query = current_visit().query
    return known.known(ThemeNames(*(query.get(level, "") for level in ThemeNames._fields)))


def use_sample_tenant(look: str, language: str) -> None:
    """Make the current visit one of a sample tenant, or of the host's tenant with nothing but its branding and the themes that the
    address names. Raises NotFound.
    """
    tenant = _own_tenant() if look == OWN else HubTenant(look, TENANTS[look])
    if tenant is None:
        raise NotFound
    brand = tenant.brand if tenant.themes is None else tenant.themes.look(_chosen_themes(tenant.themes))
    use_brand(tenant.name, brand, look, language)


def use_brand(name: str, brand: PageBranding, look: str, language: str) -> None:
    """Make the current visit one of a tenant, of which it has nothing but the name and a branding."""
    visit = current_visit()
    brand = replace(brand, texts=texts_of_keys()) if language == KEYS else brand
    visit.tenant = HubTenant(name, brand, registration=RegistrationView(()))
    tag = SOURCE.tag if language == KEYS else language
    visit.interaction = replace(_INTERACTIONS.get(look, _SAMPLE_INTERACTION), languages=(tag,))
    visit.choose_language()


@dataclass(frozen=True)
class Gallery:
    """Where a gallery is, and the looks that it has.

    Args:
        address: the path of its index; samples are below it.
        looks: the names of looks with their titles.
        use: makes the current visit one with a look and a language.
        previewed: the title of the version that it previews; empty in development.
        themes: those of the host's tenant, if its look is shown.
        sources: where each value of the previewed look comes from, if it inherits some.
    """

    address: str
    looks: Mapping[str, str]
    use: Callable[[str, str], None]
    previewed: str = ""
    themes: Themes | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


gallery = Blueprint("gallery", __name__, url_prefix="/_gallery")


_MODES: Final = {"system": "System", "light": "Light", "dark": "Dark"}
_SIZES: Final = {"phone": "Phone", "desktop": "Desktop", "both": "Phone and desktop"}


@dataclass(frozen=True)
class _Choice:
    """What the query asks for: the branding, the language, the colors and the width of the thumbnails, and which of them."""

    look: str
    language: str
    mode: str
    size: str
    group: str | None
    words: str

    def has(self, each: Thumbnail) -> bool:
        return self.group is None or each.group == self.group


def _choice(look_names: Iterable[str], size: str = "phone") -> _Choice:
    """Return the choice of the request, by default the first look at this size.

    Raises:
        NotFound: the look, the language, the mode, the size or the group is none of those that the gallery has.
    """
    query, known_names = current_visit().query, [*look_names]
    made = _Choice(
        query.get("look", known_names[0]),
        query.get("lang", "en"),
        query.get("mode", "system"),
        query.get("size", size),
        query.get("group"),
        query.get("q", "").strip(),
    )
    chosen = ((made.look, known_names), (made.language, _LANGUAGES), (made.mode, _MODES), (made.size, _SIZES))
    if not all(value in known for value, known in chosen) or made.group not in {None, *GROUPS}:
        raise NotFound
    return made


def _level_selects(themes: Themes | None) -> Iterator[tuple[str, str, dict[str, str], str]]:
    """Yield a field for each level: its name, label, options and value; none for a look without themes."""
    if themes is not None:
        titles = {"": "None", **{name: name for name in themes}}
        for level, name in _chosen_themes(themes)._asdict().items():
            yield level, level.capitalize(), titles, name


def _chosen_levels(shown: Gallery) -> dict[str, Any]:
    """Return the chosen themes as a query, and the level that each value of the look comes from."""
    if shown.themes is None:
        return {"themes": "", "sources": sorted(shown.sources.items())}
    chosen = _chosen_themes(shown.themes)
    query = urlencode({level: name for level, name in chosen._asdict().items() if name})
    return {"themes": query, "sources": sorted(shown.themes.merged(chosen).sources.items())}


@gallery.get("")
def index() -> Response:
    """Show samples as thumbnails: those of `group` and with all words of `q`, in `lang`, `look`, `mode` and `size`."""
    own = _own_tenant()
    looks = {OWN: f"{own.brand.name} (live)"} if own else {}
    looks |= {name: name.capitalize() for name in TENANTS}
    themes = own.themes if own is not None and _choice(looks).look == OWN else None
    return index_page(Gallery("/_gallery", looks, use_sample_tenant, themes=themes))


@gallery.get("/<page_name>/<sample>")
def show(page_name: str, sample: str) -> Response:
    """Render one sample; `lang` and `look` choose language, or keys of texts, and branding."""
    looks = dict.fromkeys((*TENANTS, OWN), "")
    return sample_page(Gallery("/_gallery", looks, use_sample_tenant), page_name, sample)


def index_page(shown: Gallery) -> Response:
    """Return the index of a gallery. Raises NotFound for a choice that it does not have."""
    choice = _choice(shown.looks, "both" if shown.previewed else "phone")
    use_sample_tenant("acme", "en")
    visit, settings, assets = current_visit(), services().settings, current_app.extensions["gatehouse.assets"]
    found = [each for each in thumbnails(all_samples()) if each.has_words(choice.words)]
    by_page = [(title, list(states)) for title, states in groupby(filter(choice.has, found), lambda each: each.title)]
    html = render_template(
        "gallery.html",
        gallery=shown,
        pages=by_page,
        groups=[(key, name, sum(each.group == key for each in found)) for key, name in GROUPS.items()],
        total=len(found),
        choice=choice,
        selects=(
            ("look", "Look", shown.looks, choice.look),
            ("lang", "Language", _LANGUAGES, choice.language),
            ("mode", "Mode", _MODES, choice.mode),
            ("size", "Width", _SIZES, choice.size),
            *_level_selects(shown.themes),
        ),
        **_chosen_levels(shown),
        start=f"{settings.public_scheme}://{settings.hub_domain}",
        inbox=settings.hub_url("inbox"),
        reference=f"{settings.base_url}/docs",
        style=assets.style("console").name,
        script=assets.script(("gallery",)).name,
        brand=visit.brand,
        nonce=visit.nonce,
    )
    policy = (
        f"default-src 'none'; style-src 'nonce-{visit.nonce}'; script-src 'nonce-{visit.nonce}'; img-src data:; "
        "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return index_response(html, policy)


def index_response(html: str, policy: str) -> Response:
    """Return an index with its content security policy, compressed where the browser accepts it."""
    is_compressed = accepts_gzip()
    body = compress(html.encode()) if is_compressed else html.encode()
    headers = {"Content-Security-Policy": policy} | ({"Content-Encoding": "gzip"} if is_compressed else {})
    return Response(body, headers=headers, content_type=HTML)


def sample_page(shown: Gallery, page_name: str, sample: str) -> Response:
    """Return one sample of a gallery. Raises NotFound for one, or for a choice, that it does not have."""
    choice = _choice(shown.looks)
    shown.use(choice.look, choice.language)
    page = pages_by_name().get(page_name)
    found = _samples(page, choice).get(sample) if page else None
    if found is None:
        raise NotFound
    response = found.render()
    if current_visit().headers.get("Sec-Fetch-Dest") == "iframe":
        _let_gallery_frame(response)
    return response


def _samples(page: type[Page], choice: _Choice) -> Mapping[str, Page]:
    """Return the samples of a page, which an application may cache for the next request."""
    cached: SampleCache | None = current_app.extensions.get(SAMPLE_CACHE)
    return cached(page, current_visit().host, choice.look, choice.language) if cached else page.samples()


def _let_gallery_frame(response: Response) -> None:
    """Let pages of this host frame a sample, which no other page allows: its form sends nothing, and its account is made up."""
    policy = response.headers["Content-Security-Policy"]
    response.headers["Content-Security-Policy"] = policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
