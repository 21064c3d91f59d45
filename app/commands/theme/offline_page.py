"""Makes a page of the hub one of a folder: relative addresses, no scripts, and nothing that is of one rendering alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_SCRIPT: Final = re.compile(r"<(script|noscript)\b[^>]*>.*?</\1>\n?", re.DOTALL)
_REFRESH: Final = re.compile(r'<meta http-equiv="refresh"[^>]*>\n?')
_TAG: Final = re.compile(r'<[a-z][a-z0-9-]*(?:\s+[^\s=<>"]+(?:="[^"]*")?)+\s*/?>')
_NONCE: Final = re.compile(r'\s+nonce="[^"]*"')
_VALUE: Final = re.compile(r'(?<=\svalue=")[^"]*')
_FILE: Final = re.compile(r'(?<=\s)(href|src)="(/(?:static|theme)/[^"?#]+)[^"]*"')
_PLACE: Final = re.compile(r'(?<=\s)href="[/?][^"]*"')
_LANGUAGE: Final = re.compile(r'(?<=\s)href="[^"]*[?;]lang=(\w+)[^"]*"')
_STYLE: Final = re.compile(r"(?<=<style>)[^<]*")
_FILE_IN_CSS: Final = re.compile(r'url\("?(/theme/[^)"]+)"?\)')
_CHARSET: Final = '<meta charset="utf-8">'
_OF_SERVERS: Final = frozenset(("frame-ancestors", "sandbox", "form-action", "script-src", "style-src"))
_NOTHING_SENT: Final = "script-src 'none'; form-action 'none'"
_OF_FILES: Final = "'self' file:"


def offline_page(html: str, policy: str, root: str, page: str, file: Callable[[str], str]) -> str:
    """Return the page without scripts, tokens and nonces; forms look as they do, and browsers send none.

    Args:
        html: as the hub renders it: complete, with quoted attributes.
        policy: its Content-Security-Policy.
        root: the relative address of the folder, such as `../../`; empty for the folder itself.
        page: the relative address of the same page, with `{}` for a language.
        file: takes a path of the host; returns the file's address in the folder, and `""` without such a file.
    """

    def tag(found: re.Match[str]) -> str:
        made = _NONCE.sub("", found[0])
        if made.startswith("<input") and ' type="hidden"' in made:
            made = _VALUE.sub("", made)
        made = _FILE.sub(lambda each: f'{each[1]}="{_below(root, file(each[2]))}"', made)
        if made.startswith("<a "):
            made = _LANGUAGE.sub(lambda each: f'href="{root}{page.format(each[1])}"', made)
            made = _PLACE.sub('href="#"', made)
        return made

    def style(found: re.Match[str]) -> str:
        return offline_css(found[0], lambda path: _below(root, file(path)))

    made = _STYLE.sub(style, _TAG.sub(tag, _REFRESH.sub("", _SCRIPT.sub("", html))))
    return made.replace(
        _CHARSET, f'{_CHARSET}\n<meta http-equiv="Content-Security-Policy" content="{_offline(policy)}">', 1
    )


def offline_css(css: str, file: Callable[[str], str]) -> str:
    """Return a style sheet with the addresses of files that a function gives for their paths."""
    return _FILE_IN_CSS.sub(lambda each: f"url({file(each[1])})", css)


def _below(root: str, name: str) -> str:
    return f"{root}{name}" if name else "data:,"


def _offline(policy: str) -> str:
    """Return the policy for a file, which has neither a host nor nonces."""
    kept = [part.strip() for part in policy.split(";") if part.split()[0] not in _OF_SERVERS]
    kept = [part.replace("'self'", _OF_FILES) for part in kept]
    return "; ".join((*kept, f"style-src 'unsafe-inline' {_OF_FILES}", _NOTHING_SENT))
