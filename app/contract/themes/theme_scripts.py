"""Reads the scripts of a theme: elements of other hosts, each built anew from what an allow-list lets through (decision 0421)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import unescape
from typing import Final, NamedTuple

from app.contract.tenants.branding import SCRIPT_PLACES
from app.kit.web.urls import origin_of

MAX_ELEMENTS: Final = 20
NO_SCRIPTS: Final = (
    "none: the operator allows this tenant’s themes no scripts; settings.theme_scripts.origins in the tenant’s configuration "
    "file does"
)
_ADDRESS: Final = re.compile(r"https://[a-z0-9.-]+(?::[0-9]{1,5})?/[A-Za-z0-9._~!$&'()*+,;=:@%/?-]*")
"""Of a script: neither a user nor a fragment, and nothing that browsers read in another way."""
_ELEMENT: Final = re.compile(
    r'<(?P<name>script|meta|link)(?P<attributes>(?:\s+[a-z][a-z0-9-]*(?:="[^"<>]*")?)*)\s*/?>', re.ASCII
)
_ATTRIBUTE: Final = re.compile(r'([a-z][a-z0-9-]*)(?:="([^"<>]*)")?', re.ASCII)
_END: Final = re.compile(r"(?P<code>[^<]*)</script>")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_INTEGRITY: Final = re.compile(
    r"sha(?:256|384|512)-[A-Za-z0-9+/]{43,86}={0,2}(?: sha(?:256|384|512)-[A-Za-z0-9+/]{43,86}={0,2})*"
)
_DATA: Final = re.compile(r"data-[a-z][a-z0-9-]{0,60}")
_VERIFICATIONS: Final = (
    "google-site-verification", "msvalidate.01", "facebook-domain-verification", "p:domain_verify", "yandex-verification",
)  # fmt: skip
"""The names of `<meta>` that say to a service whose domain this is."""
_RELATIONS: Final = ("preconnect", "dns-prefetch")
_WRITTEN: Final = '<script src="https://…"></script>, with attributes in double quotes'
_IN_HEAD: Final = f"{_WRITTEN}, <meta> and <link> as in “Scripts” of docs/theming.md"
_FILE: Final = "no code between <script> and </script>: put it into a file at an allowed origin, and name it in src"

Attributes = dict[str, str | None]


class ScriptElement(NamedTuple):
    """An element of a page's head, as it is checked."""

    name: str
    attributes: tuple[tuple[str, str | None], ...]
    """None: an attribute without a value."""
    origin: str = ""
    """Where it loads from, or connects to; empty for neither."""

    @property
    def is_script(self) -> bool:
        return self.name == "script"


class ScriptProblem(NamedTuple):
    """A problem of one place of a theme's scripts."""

    place: str
    line: int
    expected: str


class _Refused(Exception):
    """What an element, or the text at a position, is expected to be."""


def problems(scripts: Mapping[str, str], origins: Iterable[str] | None = None) -> Iterator[ScriptProblem]:
    """Yield what is wrong. `origins`: those that the operator allows; None if they are not known here."""
    allowed, count = None if origins is None else tuple(origins), 0
    for place in SCRIPT_PLACES:
        for line, found in _lines(place, scripts.get(place, "")):
            count += 1
            if count == MAX_ELEMENTS + 1:
                yield ScriptProblem(place, line, f"at most {MAX_ELEMENTS} elements in all places together")
            if isinstance(found, _Refused):
                yield ScriptProblem(place, line, str(found))
            elif allowed is not None and found.origin and found.origin not in allowed:
                yield ScriptProblem(place, line, _other_origin(found, allowed))


def elements(scripts: Mapping[str, str], origins: Iterable[str]) -> tuple[ScriptElement, ...]:
    """Return the elements of pages: those without a problem, at origins that the operator allows."""
    allowed = frozenset(origins)
    found = [each for place in SCRIPT_PLACES for _, each in _lines(place, scripts.get(place, ""))]
    usable = [each for each in found if isinstance(each, ScriptElement) and (not each.origin or each.origin in allowed)]
    return tuple(usable[:MAX_ELEMENTS]) if allowed else ()


def origins_of(scripts: Mapping[str, str]) -> list[str]:
    """Return the origins that the elements load from, in order."""
    found = (each for place in SCRIPT_PLACES for _, each in _lines(place, scripts.get(place, "")))
    return [*dict.fromkeys(each.origin for each in found if isinstance(each, ScriptElement) and each.origin)]


def _other_origin(found: ScriptElement, allowed: tuple[str, ...]) -> str:
    if not allowed:
        return NO_SCRIPTS
    return f"an address at an origin that the operator allows ({', '.join(allowed)}); found {found.origin}"


def _lines(place: str, text: str) -> Iterator[tuple[int, ScriptElement | _Refused]]:
    """Yield each element with its line, or why it is refused; what follows markup that cannot be read is not read."""
    if place == "js":
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                yield number, _checked(_script, {"src": line.strip()})
        return
    at = _skipped(text, 0)
    while at < len(text):
        number = text.count("\n", 0, at) + 1
        matched = _ELEMENT.match(text, at)
        if matched is None or (matched["name"] != "script" and place != "head_tags"):
            yield number, _Refused(_IN_HEAD if place == "head_tags" else _WRITTEN)
            return
        end = _END.match(text, matched.end()) if matched["name"] == "script" else None
        if matched["name"] == "script" and (end is None or end["code"].strip()):
            yield number, _Refused(_FILE)
            return
        yield number, _checked(_READERS[matched["name"]], matched["attributes"])
        at = _skipped(text, (end or matched).end())


def _skipped(text: str, at: int) -> int:
    matched = _SPACE.match(text, at)
    return matched.end() if matched else at


def _checked(read: Callable[[Attributes], ScriptElement], given: Attributes | str) -> ScriptElement | _Refused:
    try:
        return read(given if isinstance(given, dict) else _attributes(given))
    except _Refused as refused:
        return refused


def _attributes(written: str) -> Attributes:
    attributes: Attributes = {}
    for matched in _ATTRIBUTE.finditer(written):
        if matched[1] in attributes:
            raise _Refused(f"each attribute once; found {matched[1]} twice")
        attributes[matched[1]] = unescape(matched[2]) if matched[2] is not None else None
    return attributes


def _script(attributes: Attributes) -> ScriptElement:
    address = attributes.get("src") or ""
    if not address:
        raise _Refused(_WRITTEN)
    origin = origin_of(address)
    if not _ADDRESS.fullmatch(address) or not address.startswith(f"{origin}/"):
        raise _Refused(
            "an https address such as https://analytics.example/script.js, without a user, a fragment or a usual port"
        )
    for name, value in attributes.items():
        if name != "src":
            _check_attribute(name, value)
    if "integrity" in attributes and "crossorigin" not in attributes:
        raise _Refused('crossorigin="anonymous" beside integrity, without which browsers load nothing')
    return ScriptElement("script", tuple(attributes.items()), origin)


def _check_attribute(name: str, value: str | None) -> None:
    if name in ("async", "defer"):
        is_known = value in (None, "")
    elif name == "crossorigin":
        is_known = value in (None, "", "anonymous")
    elif name == "integrity":
        is_known = bool(_INTEGRITY.fullmatch(value or ""))
    else:
        is_known = bool(_DATA.fullmatch(name)) and len(value or "") <= 500 and _is_line(value or "")
    if not is_known:
        raise _Refused(
            'of <script> src, async, defer, crossorigin="anonymous", integrity="sha384-…" and data-… alone; '
            f"found {name}{'' if value is None else ' with another value'}"
        )


def _meta(attributes: Attributes) -> ScriptElement:
    name, content = attributes.get("name") or "", attributes.get("content") or ""
    if attributes.keys() != {"name", "content"} or name not in _VERIFICATIONS or not _is_line(content):
        raise _Refused(f"of <meta> name and content alone, with one of the names {', '.join(_VERIFICATIONS)}")
    return ScriptElement("meta", (("name", name), ("content", content)))


def _link(attributes: Attributes) -> ScriptElement:
    rel, address = attributes.get("rel") or "", attributes.get("href") or ""
    origin = origin_of(address)
    is_origin = address.removesuffix("/") == origin and origin.startswith("https://")
    if attributes.keys() - {"crossorigin"} != {"rel", "href"} or rel not in _RELATIONS or not is_origin:
        raise _Refused(f"of <link> rel and href alone, with {' or '.join(_RELATIONS)} and an https origin")
    if attributes.get("crossorigin") not in (None, "", "anonymous"):
        raise _Refused('crossorigin="anonymous"')
    return ScriptElement("link", tuple(attributes.items()), origin)


def _is_line(text: str) -> bool:
    return text.isprintable() and len(text) <= 500


_READERS: Final[Mapping[str, Callable[[Attributes], ScriptElement]]] = {"script": _script, "meta": _meta, "link": _link}
