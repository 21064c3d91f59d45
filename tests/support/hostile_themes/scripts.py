"""Scripts of themes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import BRAND, HostileTheme


def _refused(place: str, text: str, expected: str) -> HostileTheme:
    return HostileTheme(
        {BRAND: f"scripts: {{{place}: '{text}'}}"}, problem=f"theme.yaml:1: scripts.{place}: {expected}"
    )


# fmt: off
SCRIPTS: Final[Mapping[str, HostileTheme]] = {
    "inline code": _refused("end_script", "<script>alert(1)</script>", "line 1: expected no code"),
    "code after an address": _refused("end_script", '<script src="https://a.example/a.js">alert(1)</script>', "line 1: expected no code"),
    "handler": _refused("before_script", '<script src="https://a.example/" onerror="a"></script>', "line 1: expected of <script>"),
    "nonce": _refused("before_script", '<script src="https://a.example/a.js" nonce="a"></script>', "line 1: expected of <script>"),
    "javascript address": _refused("js", "javascript:alert(1)", "line 1: expected an https address"),
    "data address": _refused("js", "data:text/javascript,alert(1)", "line 1: expected an https address"),
    "http address": _refused("js", "http://a.example/a.js", "line 1: expected an https address"),
    "address of this host": _refused("js", "/theme/a.js", "line 1: expected an https address"),
    "address with a user": _refused("js", "https://a.example@evil.example/a.js", "line 1: expected an https address"),
    "address that ends a directive": _refused("js", "https://a.example;script-src */a.js", "line 1: expected an https address"),
    "address in entities": _refused("end_script", '<script src="&#106;avascript:alert(1)"></script>', "line 1: expected an https address"),
    "attribute breakout": _refused("end_script", '<script src="https://a.example/&quot; onload=&quot;"></script>', "line 1: expected an"),
    "refresh": _refused("head_tags", '<meta http-equiv="refresh" content="0;url=https://evil.example">', "line 1: expected of <meta>"),
    "base": _refused("head_tags", '<base href="https://evil.example/">', "line 1: expected <script src"),
    "stylesheet": _refused("head_tags", '<link rel="stylesheet" href="https://a.example/a.css">', "line 1: expected of <link>"),
    "end of the head": _refused("head_tags", "</head><body>", "line 1: expected <script src"),
    "comment": _refused("end_script", "<!-- -->", "line 1: expected <script src"),
    "unknown place": HostileTheme({BRAND: "scripts: {body: a}"}, problem="theme.yaml:1: scripts.body: expected one of head_tags"),
    "many attributes": _refused("end_script", '<script src="https://a.example/a.js"' + " a" * 1_900 + ">", "line 1: expected no code"),
    "long text": _refused("end_script", "<script " * 5_000, "expected"),
    "many scripts": HostileTheme(
        {BRAND: "scripts:\n  js: |\n" + "    https://a.example/a.js\n" * 21},
        problem="theme.yaml:2: scripts.js: line 21: expected at most 20 elements",
    ),
    "blanks": _refused("end_script", "<script" + " " * 4_000, "line 1: expected <script src"),
}
