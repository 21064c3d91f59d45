"""The pages of the example themes, which keep the checks of our own pages. pytest loads this module as a plugin.

Our pages are checked in every state and two or three languages. A theme changes what surrounds them and how they look, so each theme
shows each page once, in the state with the most elements, and the languages take turns: all five themes together cost less than our
pages alone. `gatehouse theme check --browser FOLDER` looks at every state in every language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import pytest

from app.commands.theme.folder import as_tenant, read_theme
from app.hub.gallery import OWN
from app.hub.theme_check.browser.sheet_server import SheetServer, served
from app.hub.theme_check.review import OURS_ALONE
from app.hub.theme_check.samples import PageSample, SamplePages
from app.identity.administration.configuration.file.theme.read_folder import ThemeFolder
from app.kit.package_files import EXAMPLES
from app.kit.text.languages import LANGUAGES
from tests.support.browsers import page_samples
from tests.support.browsers.page_cover import covers

THEMES = sorted(path.parent.name for path in (EXAMPLES / "themes").glob("*/templates"))
NEED_SCRIPTS_OF_OTHERS = "data-widget"
"""What pages with a captcha widget have, whose provider is another site."""
Place = tuple[str, str, str]
"""A page, its state and a language."""


@cache
def folders() -> dict[str, ThemeFolder]:
    return {name: read_theme(EXAMPLES / "themes" / name) for name in THEMES}


@cache
def pages() -> SamplePages:
    """Return the pages of all themes, each at a host of its own."""
    return SamplePages({host(name): as_tenant(folder.brand, name) for name, folder in folders().items()})


def host(theme: str) -> str:
    return f"{theme}.localhost"


def address(page: str, state: str, language: str) -> str:
    return page_samples.address(page, state, language, OWN)


def rendered(theme: str, place: Place) -> PageSample:
    return pages().render(*place, host=host(theme))


@cache
def in_turn(theme: str) -> list[Place]:
    """Return the states of pages that together show each element, each in the language whose turn it is."""
    shown = [(name, state) for name, cover in covers().items() for state in cover.of_elements if name not in OURS_ALONE]
    tags = [*LANGUAGES]
    return [(*item, tags[(number + THEMES.index(theme)) % len(tags)]) for number, item in enumerate(shown)]


@cache
def one_of_each(theme: str) -> list[Place]:
    """Return each page once, in the state with the most elements; without the page that sends itself."""
    most: dict[str, tuple[int, Place]] = {}
    for place in in_turn(theme):
        html = page_samples.rendered(*place).html
        if place[0] != "FormPostPage" and NEED_SCRIPTS_OF_OTHERS not in html:
            most[place[0]] = max(most.get(place[0], (0, place)), (html.count("<"), place))
    return [place for _, place in most.values()]


@pytest.fixture(scope="session")
def theme_address() -> Iterator[Callable[[str], str]]:
    """Serve the galleries of the themes; yield the function that returns the address of one."""
    files = {path: content for folder in folders().values() for path, content in folder.served_files.items()}
    with served(SheetServer(pages(), pages().render, files)) as port:
        yield lambda theme: f"http://{host(theme)}:{port}"
