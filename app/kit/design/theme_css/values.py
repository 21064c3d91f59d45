"""Checks the values of a theme's declarations for what no element may have: addresses, functions and texts that are not allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import DATA_KINDS, FILE_KINDS, FUNCTIONS, PICTURES
from app.kit.design.theme_css.tokens import RefusedCss

_MAX_DATA: Final = 4096
_MAX_STRING: Final = 120
_MAX_CONTENT: Final = 40
_FILE_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
_BASE64: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=")
_NOT_FUNCTIONS: Final = {
    "attr": "it would show what fields contain; write a text in quotes",
    "expression": "it runs code; delete it",
    "image-set": "write url(/theme/NAME)",
    "-webkit-image-set": "write url(/theme/NAME)",
    "src": "write url(/theme/NAME)",
    "image": "write url(/theme/NAME)",
    "local": "write url(/theme/NAME.woff2)",
}


def check_value(name: str, value: Sequence[Node], urls: set[str]) -> None:
    """Add the addresses of a declaration's value to `urls`. Raises RefusedCss for what no element may have."""
    for token in value:
        if token.type == "url":
            _add_address(name, token, token.value, urls)
        elif token.type == "function" and token.lower_name == "url":
            strings = [part for part in token.arguments if part.type != "whitespace"]
            _add_address(name, token, strings[0].value if [part.type for part in strings] == ["string"] else "", urls)
        elif token.type == "function":
            if token.lower_name not in FUNCTIONS:
                remedy = _NOT_FUNCTIONS.get(token.lower_name, "write a plain value")
                raise RefusedCss(
                    token, f"expected a function such as var(), calc() or rgb(); found {token.name}(): {remedy}"
                )
            check_value(name, token.arguments, urls)
        elif token.type == "() block":
            check_value(name, token.content, urls)
        else:
            _check_plain(token)


def _check_plain(token: Node) -> None:
    if token.type == "string" and len(token.value) > _MAX_STRING:
        raise RefusedCss(
            token,
            f"expected texts of at most {_MAX_STRING} characters; found {len(token.value)}: write them in a template",
        )
    if token == ":":
        raise RefusedCss(token, "expected ; after each declaration; found a second colon: add the ; before it")
    if token == "!":
        raise RefusedCss(token, "expected a value; found !: delete it and what follows")
    is_strange = token.type in ("{} block", "[] block", "at-keyword") or (
        token.type == "literal" and token.value not in ",/+-*"
    )
    if is_strange:
        found = token.value if token.type == "literal" else token.type[0]
        raise RefusedCss(token, f"expected a value; found {found}: delete it, or end the declaration before it with ;")


def _add_address(name: str, token: Node, address: str, urls: set[str]) -> None:
    is_font = name == "src"
    if not is_font and name not in PICTURES and not name.startswith("--"):
        raise RefusedCss(
            token, f"expected {name} without url(); found one: only backgrounds, masks, list marks and fonts load files"
        )
    if address.startswith("data:") and not is_font:
        head, _, body = address[5:].partition(",")
        if (
            head not in {f"{kind};base64" for kind in DATA_KINDS}
            or len(address) > _MAX_DATA
            or not set(body) <= _BASE64
        ):
            raise RefusedCss(
                token,
                "expected a png, webp or jpeg of at most 4 kB as data:image/…;base64,…; found another: make it a file, url(/theme/NAME)",
            )
        return
    file = address.removeprefix("/theme/")
    stem, _, kind = file.rpartition(".")
    kinds = frozenset({"woff2"}) if is_font else FILE_KINDS
    if (
        not address.startswith("/theme/")
        or not stem
        or stem[0] == "."
        or not set(file) <= _FILE_NAME
        or kind not in kinds
    ):
        one_of = "woff2" if is_font else "svg, png, jpg, webp or avif"
        raise RefusedCss(
            token,
            f"expected url(/theme/NAME) with a file of the theme ({one_of}); found {address[:60] or 'none'}: put the file there",
        )
    urls.add(address)


def check_special(name: str, value: Sequence[Node], *, is_own: bool) -> None:
    """Raise RefusedCss for values of `content`, `cursor`, `position` and `z-index` that no element may have."""
    plain = [token for token in value if token.type != "whitespace"]
    words = [token.lower_value for token in plain if token.type == "ident"]
    if name == "content":
        _check_content(plain)
    elif name == "cursor" and (len(words) != len(plain) or "none" in words):
        raise RefusedCss(
            plain[0], "expected the name of a visible cursor, such as pointer; found another value: write pointer"
        )
    elif (
        name == "position"
        and is_own
        and (len(plain) != 1 or words not in (["static"], ["relative"], ["absolute"], ["sticky"]))
    ):
        raise RefusedCss(
            plain[0],
            "expected static, relative, absolute or sticky; found another, which could cover the form: use absolute",
        )
    elif name == "z-index":
        is_behind = len(plain) == 1 and plain[0].type == "number" and plain[0].value <= 0
        if words != ["auto"] and not is_behind:
            raise RefusedCss(
                plain[0], "expected auto, 0 or a negative number; found another, which could cover the form: write -1"
            )


def _check_content(plain: Sequence[Node]) -> None:
    for token in plain:
        is_word = token.type == "ident" and token.lower_value in ("none", "normal", "open-quote", "close-quote")
        is_counter = token.type == "function" and token.lower_name in ("counter", "counters")
        is_text = token.type == "string" and len(token.value) <= _MAX_CONTENT
        if not (is_word or is_counter or is_text or token == "/"):
            raise RefusedCss(
                token,
                f"expected a text of at most {_MAX_CONTENT} characters in quotes, none or counter(); found more: "
                "write texts in a template, where they can be translated",
            )
