"""The system's Chromium, driven by Playwright, and its windows. pytest loads it as a plugin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--renderer-process-limit=1",  # the pages of a context share a process: starting one takes as long as a page
    "--in-process-gpu",  # one process less to start and to talk to
    "--disable-site-isolation-trials",  # nor does each tenant's host start a process
    # A page of the same site is shown in the frame of the page before. Only the last such option counts: Playwright's two come first.
    "--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame",
    "--js-flags=--no-flush-bytecode",  # axe and the pages' scripts are compiled once, also after a pause
]  # fmt: skip
# No person watches. Layout, focus, hit tests, frames and what Playwright calls visible do not depend on it.
UNPAINTED = """(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":root { opacity: 0 }");
    document.adoptedStyleSheets = [sheet];
})()"""
ALONE = "alone"
OF_A_PAGE = {"viewport"}
"""Options that each page of a context may have for itself."""


@pytest.fixture(scope="session")
def chromium(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


class Windows:
    """Browser contexts, lent to one test after another: without cookies, permissions and pages of the test before.

    A context starts a process for its pages, and that takes as long as showing a few; here a blank page keeps the process.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._contexts: dict[tuple[str, int], BrowserContext] = {}
        self._lent: Counter[str] = Counter()

    def open(self, *, alone: bool = False, painted: bool = False, **how: Any) -> Page:
        """Open a page in a context that this test has not opened yet; options as of Playwright's `new_context`.

        `alone` is for what stays in a context, such as a page's clock: no other test gets the context. `painted` is for
        what looks at colours.
        """
        options = {name: value for name, value in how.items() if name not in OF_A_PAGE}
        kind = ALONE if alone else repr((painted, sorted(options.items())))
        place = kind, self._lent[kind]
        self._lent[kind] += 1
        if place not in self._contexts:
            self._contexts[place] = self._browser.new_context(**options)
            if not painted:
                self._contexts[place].add_init_script(UNPAINTED)
            self._contexts[place].new_page()
        page = self._contexts[place].new_page()
        if size := how.get("viewport"):
            page.set_viewport_size(size)
        return page

    def clear(self) -> None:
        """Take back what was lent."""
        for kind, number in self._lent.items():
            for place in ((kind, index) for index in range(number)):
                if kind == ALONE:
                    self._contexts.pop(place).close()
                else:
                    _forget(self._contexts[place])
        self._lent.clear()


def _forget(context: BrowserContext) -> None:
    for page in context.pages[1:]:
        page.close()
    context.clear_cookies()
    context.clear_permissions()
    context.unroute_all()


@pytest.fixture(scope="session")
def windows(chromium: Browser) -> Windows:
    return Windows(chromium)


Opened = Callable[..., Page]


@pytest.fixture
def opened(windows: Windows) -> Iterator[Opened]:
    """Open pages, each in a browser context of its own."""
    yield windows.open
    windows.clear()
