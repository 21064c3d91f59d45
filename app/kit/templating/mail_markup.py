"""The markup that mails of tenants may have: tables, `bgcolor` and `style`, as mail programs need them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from app.kit.templating.contract import Dialect


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CLASSES: Final = _words("card code edge fill ground ink link muted on rule tile")
"""The classes with colours of dark mode."""
_TABLES: Final = _words("table tbody thead tfoot tr")
_SIZE: Final = re.compile(r"[0-9]{1,4}%?")
_NUMBER: Final = re.compile(r"[0-9]{1,2}")


def _style(text: str) -> tuple[str, str]:
    from app.kit.design.theme_css.inline import checked_style  # noqa: PLC0415 - only mails of themes need it

    return checked_style(text)


MAIL: Final = Dialect(
    elements=_words(
        "a b bdi blockquote br center code div em h2 h3 hr i img li ol p s small span strong sub sup table tbody td tfoot th thead "
        "tr u ul"
    ),
    void=_words("br hr img"),
    attributes=_words("align aria-hidden bgcolor class dir height lang style title valign width"),
    by_element={
        "a": _words("href target"),
        "img": _words("alt border src"),
        "table": _words("border cellpadding cellspacing role"),
        "td": _words("colspan rowspan"),
        "th": _words("colspan rowspan scope"),
        "ol": _words("start"),
    },
    words={
        "align": _words("left center right"),
        "aria-hidden": _words("true"),
        "dir": _words("ltr rtl auto"),
        "role": _words("presentation none"),
        "scope": _words("col row"),
        "target": _words("_blank"),
        "valign": _words("top middle bottom baseline"),
    },
    classes=CLASSES,
    holders=_words("blockquote center div td th") | _TABLES,
    file=re.compile(r"(?:img/|/theme/(?:img/)?)[A-Za-z0-9][A-Za-z0-9._-]*\.(?:png|jpe?g|webp|gif)"),
    example="img/flower.png (mail programs show no svg)",
    silencing=_words("aria-hidden"),
    hints={
        "form": "no <form>: mail programs have none",
        "input": "no <input>: mail programs have none",
        "button": 'no <button>: link with <a class="on"> within a <td class="fill">',
        "style": "no <style>: use style attributes, and our classes for dark mode",
        "h1": "no <h1>: the mail has its own; use <h2>",
        "html": "no <html>: the mail has it",
        "head": "no <head>: the mail has it",
        "body": "no <body>: the mail has it",
        "base": "no <base>: links are whole addresses, or paths of the tenant's host",
    },
    patterns={
        "bgcolor": re.compile(r"#[0-9a-fA-F]{6}"),
        "border": _NUMBER,
        "cellpadding": _NUMBER,
        "cellspacing": _NUMBER,
        "colspan": _NUMBER,
        "height": _SIZE,
        "rowspan": _NUMBER,
        "start": _NUMBER,
        "width": _SIZE,
    },
    parents={
        "tbody": _words("table"),
        "thead": _words("table"),
        "tfoot": _words("table"),
        "tr": _words("table tbody thead tfoot"),
        "td": _words("tr"),
        "th": _words("tr"),
    },
    style=_style,
)
"""What the layout may have."""
_SENTENCES: Final = _words("b bdi em i span strong u")
PARAGRAPHS: Final = replace(MAIL, holders=MAIL.holders | _SENTENCES | _words("li p"))
"""What a block with paragraphs may have: ours in it is a sentence."""
SENTENCE: Final = replace(
    MAIL,
    elements=_words("a b bdi br code em i small span strong sub sup u s"),
    holders=_SENTENCES,
    parents={},
)
"""What a block within one of our paragraphs may have."""
TEXT: Final = replace(MAIL, elements=frozenset(), void=frozenset(), holders=frozenset(), parents={}, hints={})
"""What a block may have that is text alone, such as the subject."""
