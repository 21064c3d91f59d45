"""Shows many pages on one sheet in a browser, each in a frame with its own width, focus and styles.

One evaluation asks all of them, and a narrow window costs only a layout. Rules return faults as text and leave the pages unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from app.hub.theme_check.browser.sheet_tools import TOOLS

if TYPE_CHECKING:
    from playwright.sync_api import Page

DESK: Final = (1280, 820)
"""The size of a frame in pixels."""
MAX_PICTURE_HEIGHT: Final = 2000
"""Height in pixels of the window, and at most of a picture of a frame: a picture shows nothing from below the window."""
# Opacity spares the painting of what no person watches; layout, focus, colours and hit tests inside the frames do not depend on it.
SHEET: Final = """<!doctype html><html lang="en"><title>Sheet</title><link rel="icon" href="data:,">
<style>:root, iframe { color-scheme: light dark } iframe { display: block; border: 0 } main { opacity: 0 } body { margin: 0 }</style>
<a id="begin" href="#">Begin</a><main></main><a id="end" href="#">End</a>"""
_LAY: Final = """([addresses, width, height, how, patience]) => {
    const main = document.querySelector("main");
    main.replaceChildren();
    document.activeElement.blur();
    window.isOver = false;
    return Promise.all(addresses.map(address => new Promise(done => {
        main.append(Object.assign(document.createElement("iframe"), {onload: () => done(true), width, height, ...how, src: address}));
        setTimeout(done, patience, false);
    })));
}"""
_KEEP: Final = "indexes => document.querySelectorAll('main > iframe').forEach((frame, index) => indexes.includes(index) || frame.remove())"
_ASK: Final = """async with_what => {
    const said = [];
    for (const frame of document.querySelectorAll("main > iframe"))
        said.push(await (%s)(frame.contentDocument, with_what, frame));
    return said;
}"""
_PATIENCE_MS: Final = 20_000
"""How long a page can take to load with its pictures and fonts, in milliseconds."""
Faults = list[list[str]]
"""The faults of each page that a rule looks at."""


class PageNotLoaded(Exception):
    """A page and its files did not load in time; the text names it."""


@dataclass
class Sheet:
    """Pages side by side; the window's own address serves `SHEET`.

    Args:
        prepare: is called once for each address of a sheet, when it is loaded.
    """

    page: Page
    names: list[str] = field(default_factory=list)
    """Of the pages on the sheet, in order."""
    prepare: Callable[[Page], None] = lambda _: None

    def lay(self, home: str, addresses: Mapping[str, str], **how: str) -> None:
        """Show the pages at these addresses, by name, in place of those before; what `prepare` set up stays.

        `how` are properties of their frames.

        Raises:
            PageNotLoaded: a page takes too long.
        """
        self.names = [*addresses]
        self.page.emulate_media(media="screen", color_scheme="light", forced_colors="none", reduced_motion="reduce")
        if self.page.url != f"{home}/":
            self.page.set_viewport_size({"width": DESK[0], "height": MAX_PICTURE_HEIGHT})
            self.page.goto(home)
            self.page.evaluate(TOOLS)
            self.prepare(self.page)
        loaded = self.page.evaluate(_LAY, [[*addresses.values()], *DESK, how, _PATIENCE_MS])
        if not all(loaded):
            raise PageNotLoaded(self.names[loaded.index(False)])

    def keep(self, names: Collection[str]) -> None:
        """Remove the pages that are not named."""
        self.page.evaluate(_KEEP, [index for index, name in enumerate(self.names) if name in names])
        self.names = [name for name in self.names if name in names]

    def ask(self, rule: str, with_what: Any = None) -> list[Any]:
        """Evaluate a rule on each page."""
        answers: list[Any] = self.page.evaluate(_ASK % rule, with_what)
        return answers

    def found(self, *rules: Rule) -> Iterator[tuple[str, str]]:
        """Yield the faults that rules find, each with the name of its page."""
        for rule in rules:
            for item in rule(self):
                yield from ((name, fault) for name, faults in zip(self.names, item, strict=True) for fault in faults)


Rule = Callable[[Sheet], Iterator[Faults]]
