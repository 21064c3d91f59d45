"""Checks the values of a theme's declarations for what no element may have: addresses, functions and texts that are not allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from tinycss2.ast import Node

from app.kit.design.theme_css.allowed import DATA_KINDS, FILE_KINDS, FUNCTIONS, PICTURES
from app.kit.design.theme_css.tokens import RefusedCss
from app.kit.design.theme_file_names import is_name

MAX_DATA: Final = 4096
MAX_STRING: Final = 120
MAX_CONTENT: Final = 40
_FILE_NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
_BASE64: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+/=")
_NOT_FUNCTIONS: Final = {
    "attr": "it would show what fields contain; write a text in quotes",
    "expression": "it runs code; delete it",
    "image-set": "write url(img/NAME)",
    "-webkit-image-set": "write url(img/NAME)",
    "src": "write url(img/NAME)",
    "image": "write url(img/NAME)",
    "local": "write url(fonts/NAME.woff2)",
}


@dataclass(frozen=True)
class FilesInCss:
    """The files that a style sheet can load, and those that it names."""

    addresses: Mapping[str, str]
    """The address of each of the theme's own files, by name."""
    named: set[str] = field(default_factory=set)


def check_value(name: str, value: Sequence[Node], files: FilesInCss) -> None:
    """Note the files that a value loads, and write the addresses of the theme's own. Raises RefusedCss for what no element may have."""
    for token in value:
        if token.type == "url":
            _add_address(name, token, token, files)
        elif token.type == "function" and token.lower_name == "url":
            strings = [part for part in token.arguments if part.type != "whitespace"]
            _add_address(name, token, strings[0] if [part.type for part in strings] == ["string"] else None, files)
        elif token.type == "function":
            if token.lower_name not in FUNCTIONS:
                remedy = _NOT_FUNCTIONS.get(token.lower_name, "write a plain value")
                raise RefusedCss(
                    token, f"expected a function such as var(), calc() or rgb(); found {token.name}(): {remedy}"
                )
            check_value(name, token.arguments, files)
        elif token.type == "() block":
            check_value(name, token.content, files)
        else:
            _check_plain(token)


def _check_plain(token: Node) -> None:
    if token.type == "string" and len(token.value) > MAX_STRING:
        raise RefusedCss(
            token,
            f"expected texts of at most {MAX_STRING} characters; found {len(token.value)}: write them in a template",
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


def _add_address(name: str, token: Node, text: Node | None, files: FilesInCss) -> None:
    is_font, address = name == "src", text.value if text else ""
    if not is_font and name not in PICTURES and not name.startswith("--"):
        raise RefusedCss(
            token, f"expected {name} without url(); found one: only backgrounds, masks, list marks and fonts load files"
        )
    if address.startswith("data:") and not is_font:
        head, _, body = address[5:].partition(",")
        if head not in {f"{kind};base64" for kind in DATA_KINDS} or len(address) > MAX_DATA or not set(body) <= _BASE64:
            raise RefusedCss(
                token,
                "expected a png, webp or jpeg of at most 4 kB as data:image/…;base64,…; found another: make it a file, url(img/NAME)",
            )
        return
    file = address.removeprefix("/theme/")
    stem, _, kind = file.rpartition(".")
    kinds = frozenset({"woff2"}) if is_font else FILE_KINDS
    if text is not None and is_name(address) and kind in kinds:
        _add_own(text, address, files)
        return
    is_named = address.startswith("/theme/") and stem and stem[0] != "." and set(file) <= _FILE_NAME
    if not is_named or kind not in kinds:
        folder, one_of = ("fonts", "woff2") if is_font else ("img", "svg, png, jpg, webp or avif")
        found = address[:60] or "none"
        raise RefusedCss(
            token, f"expected url({folder}/NAME) with a file of the theme ({one_of}); found {found}: put the file there"
        )
    files.named.add(address)


def _add_own(text: Node, name: str, files: FilesInCss) -> None:
    """Note a file of the theme, and write its address in place of its name."""
    if name not in files.addresses:
        raise RefusedCss(text, f"expected a file of the theme; found {name}: add static/{name}")
    files.named.add(name)
    address = files.addresses[name]
    text.value, text.representation = address, f'"{address}"' if text.type == "string" else f"url({address})"


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
        is_text = token.type == "string" and len(token.value) <= MAX_CONTENT
        if not (is_word or is_counter or is_text or token == "/"):
            raise RefusedCss(
                token,
                f"expected a text of at most {MAX_CONTENT} characters in quotes, none or counter(); found more: "
                "write texts in a template, where they can be translated",
            )
