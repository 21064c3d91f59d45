"""Looks at the pages of a theme in a Chromium of this machine, which Playwright drives."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.commands.errors import CommandError
from app.commands.theme.progress import progress
from app.kit.clock import monotonic

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from app.hub.theme_check.browser.review import LaidPages
    from app.hub.theme_check.review import PagePlace, PageProblem
    from app.hub.theme_check.samples import SamplePages
    from app.identity.administration.configuration.file.theme.read_folder import ThemeFolder

CHROMIUM: Final = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
)
"""Commands of Chromium; the headless shell, which is first, takes half the CPU time."""
MAX_SECONDS: Final = 1_800
"""How long a browser can take for all pages."""
_FLAGS: Final = (
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing is asked of other hosts
)


def find_chromium(chosen: Path | None = None) -> str:
    """Return the browser to start: the chosen one, or the first one in PATH. Raises CommandError."""
    if chosen is not None:
        return str(chosen)
    if found := next((path for name in CHROMIUM if (path := shutil.which(name))), None):
        return found
    raise CommandError(
        "There's no Chromium in PATH. Install Chromium, Chrome or Edge, or name one with --chromium PATH."
    )


@contextmanager
def opened_browser(chromium: str) -> Iterator[Browser]:
    """Start a browser. Raises CommandError if Playwright is missing, or the browser does not start."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise CommandError(
            "--browser needs Playwright. Run pip install playwright; your Chromium stays the browser."
        ) from None
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium, args=_FLAGS)
        except Error as problem:
            raise CommandError(f"{chromium} doesn't start: {problem.message.splitlines()[0]}") from None
        try:
            yield browser
        except Error as problem:
            raise CommandError(f"{chromium} failed: {problem.message.splitlines()[0]}") from None
        finally:
            browser.close()


def browser_problems(
    browser: Browser, theme: ThemeFolder, pages: SamplePages, places: list[PagePlace]
) -> Iterator[PageProblem]:
    """Yield what is wrong on the pages of a theme in a browser. Raises CommandError for a page that takes too long."""
    from app.hub.theme_check.browser.review import BrowserReview, review_in_browser
    from app.hub.theme_check.browser.sheet import PageNotLoaded, Sheet
    from app.hub.theme_check.browser.sheet_server import SheetServer, served
    from app.hub.theme_check.samples import SAMPLE_DOMAIN

    with served(SheetServer(pages, pages.render, theme.served_files, SAMPLE_DOMAIN)) as port:
        review = BrowserReview(Sheet(browser.new_page()), f"http://127.0.0.1:{port}", pages)
        try:
            yield from review_in_browser(review, places, _in_time)
        except PageNotLoaded as problem:
            raise CommandError(f"{problem} didn't load in the browser, with its pictures and fonts.") from None


def _in_time(groups: list[LaidPages]) -> Iterable[LaidPages]:
    """Yield pages, with their progress on a terminal, until the time is over. Raises CommandError."""
    began = monotonic()
    for group in progress(groups, "Looking"):
        if monotonic() - began > MAX_SECONDS:
            raise CommandError(
                f"The browser needs more than {MAX_SECONDS // 60} minutes. Name some pages with --pages."
            )
        yield group
