"""The filter of dangerous input (error 1214 of the interface; decision 0051).

Refused everywhere: control characters and lone surrogates, which databases reject.
In paths and queries, which never hold free text: anything that opens a tag.
In bodies: active markup, that is a script or style element, or a tag with an attribute that runs or loads something. A lone
`<` or `&` is allowed. Secrets may hold markup, because they are never displayed.

This is defence in depth. Pages are safe because every output is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import chain
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_ESCAPED = re.compile(rb"\\(?:b|f|u00|u[dD])")
"""How JSON may write a control character or a surrogate."""
_ANY_TAG = re.compile(r"<[A-Za-z!/?]")
_TAG = re.compile(r"<[A-Za-z]")
_ELEMENT = re.compile(r"</?(?:script|style)(?=[\s/>]|\Z)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""[\s/"'](?:on[a-z]{3,}+|src|srcdoc|srcset|(?:xlink:)?href|action|formaction|data|style|background|poster|http-equiv
    |attributename)\s*+=""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET = re.compile(
    r"password|passwd|passphrase|secret|answer|(?:\A|_)(?:old|new|current|confirm)?_?pin\Z", re.IGNORECASE
)


def has_control_character(text: str) -> bool:
    """Return whether the text holds a control character or a lone surrogate."""
    return _CONTROL.search(text) is not None


def opens_tag(text: str) -> bool:
    """Return whether the text opens a tag."""
    return _ANY_TAG.search(text) is not None


def has_active_markup(text: str) -> bool:
    """Return whether a browser would run or load something if the text were HTML; linear in the length of the text."""
    if "<" not in text:
        return False
    tag = _TAG.search(text)
    return _ELEMENT.search(text) is not None or (tag is not None and _ATTRIBUTE.search(text, tag.end()) is not None)


def is_secret_name(name: str) -> bool:
    """Return whether a parameter of this name holds a secret."""
    return _SECRET.search(name) is not None


def may_be_dangerous(body: bytes) -> bool:
    """Return whether the members of a JSON text must be checked."""
    if b"<" in body or (b"\\" in body and _ESCAPED.search(body) is not None):
        return True
    return has_control_character(body.decode("utf-8", "replace"))


def are_fields_dangerous(pairs: Collection[tuple[str, str]], *, with_markup: bool) -> bool:
    """Return whether one of a form's fields is dangerous, as `is_dangerous` says of each; all are searched at once."""
    text = "\n".join(chain.from_iterable(pairs))
    if has_control_character(text):
        return True
    return with_markup and "<" in text and any(is_dangerous(dict([pair]), with_markup=True) for pair in pairs)


def is_dangerous(value: Any, *, with_markup: bool) -> bool:
    """Return whether a body's member, or anything within it, is dangerous; `with_markup`: check for active markup too."""
    if isinstance(value, str):
        return has_control_character(value) or (with_markup and has_active_markup(value))
    if isinstance(value, dict):
        for name, item in value.items():
            if is_dangerous(name, with_markup=with_markup):
                return True
            if item and is_dangerous(item, with_markup=with_markup and not _SECRET.search(name)):
                return True
        return False
    if isinstance(value, list):
        for item in value:
            if is_dangerous(item, with_markup=with_markup):
                return True
    return False
