"""Checks the `style` attributes of a tenant's mails, with the bounds of style sheets: mail programs ignore style sheets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

import tinycss2
from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import OWN_BOUNDS, PROPERTIES, REASONS
from app.kit.design.theme_css.bound_check import is_outside
from app.kit.design.theme_css.bounds import SPACE, Bound, one_of, words
from app.kit.design.theme_css.tokens import RefusedCss, read_tokens, text_of, trimmed
from app.kit.design.theme_css.values import FilesInCss, check_special, check_value
from app.kit.near_names import near_name

MAX_STYLE: Final = 600
"""Characters of one attribute."""
_FUNCTIONS: Final = words("rgb rgba hsl hsla")
"""Those that mail programs know."""
_OF_SHEETS: Final = words(
    "background background-color border border-bottom border-color border-left border-radius border-right border-style border-top"
    " border-width color font font-family font-size font-style font-variant-numeric font-weight letter-spacing line-height"
    " list-style-type margin margin-bottom margin-left margin-right margin-top overflow-wrap padding padding-bottom padding-left"
    " padding-right padding-top text-align text-decoration text-transform vertical-align white-space word-break"
)
_WIDTH: Final = Bound(
    "240px to 2000px or 60% to 100% around parts", {"px": (240, 2000), "%": (60, 100)}, words("auto none")
)
PROPERTIES_OF_MAILS: Final[Mapping[str, Bound | None]] = {
    **{name: PROPERTIES[name] for name in _OF_SHEETS},
    **dict.fromkeys(words("border-collapse mso-line-height-rule mso-table-lspace mso-table-rspace table-layout"), None),
    **dict.fromkeys(words("max-width width"), _WIDTH),
    "border-spacing": SPACE,
    "display": one_of("block inline inline-block table table-row table-cell"),
    "height": replace(_WIDTH, expected="no height around parts", numbers={}),
    "min-width": replace(_WIDTH, expected="no min-width around parts", numbers={}),
}
"""What a `style` attribute may set, with the bound that holds around parts of ours."""


class CheckedStyle(NamedTuple):
    """The result of a check."""

    problem: str
    """What is expected; empty for a style that mails may have."""
    hides: str
    """What would have to be otherwise around a part of ours; empty if nothing."""


@lru_cache(maxsize=1024)
def checked_style(text: str) -> CheckedStyle:
    """Return what is wrong with the value of a `style` attribute."""
    if len(text) > MAX_STYLE or "&" in text:
        # Browsers would decode a character reference after this check.
        return CheckedStyle(f"a style of at most {MAX_STYLE} characters, without &", "")
    tokens, problems = read_tokens(text)
    if problems:
        return CheckedStyle(problems[0][1].removeprefix("expected "), "")
    hides = ""
    try:
        for node in tinycss2.parse_blocks_contents(tokens, skip_comments=True, skip_whitespace=True):
            hides = hides or _hiding(node)
    except RefusedCss as refusal:
        return CheckedStyle(str(refusal).removeprefix("expected "), "")
    return CheckedStyle("", hides)


def _hiding(node: Node) -> str:
    """Return why a part cannot be in an element with this declaration. Raises RefusedCss for what no mail may have."""
    if node.type != "declaration" or not (value := trimmed(node.value)):
        raise RefusedCss(node, "expected declarations such as color: #1d2433 with ; between them in style")
    if node.important:
        raise RefusedCss(node, "expected a value without !important, which would keep dark mode from the mail")
    name = node.lower_name
    if name not in PROPERTIES_OF_MAILS:
        near = near_name(name, PROPERTIES_OF_MAILS)
        remedy = REASONS.get(name) or (f"did you mean {near}?" if near else "delete it")
        raise RefusedCss(node, f"expected a property that mails may set; found {name}: {remedy}")
    _check_functions(value)
    check_value(name, value, FilesInCss({}))
    check_special(name, value, is_own=True)
    least, bound = OWN_BOUNDS.get(name), PROPERTIES_OF_MAILS[name]
    if least is not None and is_outside(least, value, {}):
        raise RefusedCss(node, f"expected {least.expected}; found {name}: {text_of(value, ',')[:60]}")
    if bound is not None and is_outside(bound, value, {}):
        return f"{name} is {text_of(value, ',')[:60]}; expected {bound.expected}"
    return ""


def _check_functions(value: Sequence[Node]) -> None:
    for token in value:
        if token.type == "url" or (token.type == "function" and token.lower_name not in _FUNCTIONS):
            found = "url" if token.type == "url" else token.name
            raise RefusedCss(token, f"expected a style without {found}(): use plain values, and <img> for pictures")
