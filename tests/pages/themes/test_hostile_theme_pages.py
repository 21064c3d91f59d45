"""Pages of the hostile themes that the check accepts: they run, send and load nothing of the attacker, within little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.contract.tenants.branding import Brand
from tests.support.hostile_themes.hostile_theme import HostileTheme, in_lead, in_split
from tests.support.hostile_themes.rendering import HostilePages, harms, harms_of_sheet
from tests.support.hostile_themes.table import HOSTILE, MAX_MEMORY

ACCEPTED = {name: hostile for name, hostile in HOSTILE.items() if not hostile.problem}
PAGES = HostilePages()


@pytest.fixture(scope="module", autouse=True)
def loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Load what the first page with a theme loads once for all."""
    harmless = HostileTheme({**in_lead("<p>a</p>"), **in_split("<p>b</p>")})
    brand = PAGES.use(harmless, tmp_path_factory.mktemp("loaded") / "theme")
    for shown in (*PAGES.shown(brand), *PAGES.everywhere()):
        PAGES.render(shown)
        PAGES.ours(shown)


def pictures(brand: Brand) -> frozenset[str]:
    """Return the hosts of the pictures that a theme names."""
    named = (brand.logo, brand.logo_dark, brand.favicon, brand.picture)
    return frozenset(urlsplit(address).netloc for address in named if address)


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted_hostile_theme_renders_harmlessly(name: str, tmp_path: Path) -> None:
    brand = PAGES.use(ACCEPTED[name], tmp_path / "hostile")
    first, *others = PAGES.shown(brand)
    tracemalloc.start()
    try:
        page = PAGES.render(first)  # which compiles its templates, too
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MAX_MEMORY
    assert [harm for sheet in PAGES.style_sheets(page) for harm in harms_of_sheet(sheet)] == []
    assert harms(page.html, PAGES.ours(first), pictures(brand)) == []
    for shown in others:
        assert harms(PAGES.render(shown).html, PAGES.ours(shown), pictures(brand)) == []


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        '<script src="/static/own.js"></script>',
        '<p onclick="x()">a</p>',
        '<a href="java\tscript:x()">a</a>',
        '<form action="/login"></form>',
        '<img src="//eve.example/a.png">',
        '<p style="background: url(https://eve.example/a)">a</p>',
        "<style>a { background: url(https://eve.example/a) }</style>",
        '<iframe src="/login"></iframe>',
        '<base href="/x/">',
        '<button formaction="https://eve.example/">a</button>',
    ],
)
def test_harm_on_a_page_is_found(markup: str) -> None:
    ours = PAGES.ours(PAGES.everywhere()[0])
    assert harms(ours.replace("</main>", f"{markup}</main>", 1), ours)
    assert not harms(ours, ours)


@pytest.mark.parametrize("css", ["@import 'a.css'", "a { background: url(//eve.example) }", "</style><script>"])
def test_harm_in_a_style_sheet_is_found(css: str) -> None:
    assert harms_of_sheet(css)
