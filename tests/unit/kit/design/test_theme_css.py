"""The CSS of a theme: what is refused with which sentence and line, within bounded time."""

from __future__ import annotations

import base64
from typing import Final

import pytest

from app.kit.design.theme_css.bounds import MAX_BYTES
from app.kit.design.theme_css.check import MAX_PROBLEMS, checked

PNG: Final = "data:image/png;base64," + base64.b64encode(bytes(30)).decode()


def sentences(css: str) -> list[str]:
    return [problem.sentence for problem in checked(css).problems]


# Each is refused; the sentence has these words, in this order.
HOSTILE: Final = [
    # Addresses
    (
        ".a { background: url(https://evil.example/x.png) }",
        "webp or avif); found https://evil.example/x.png",
    ),
    (".a { background: url(//evil.example/x.png) }", "found //evil.example/x.png"),
    (".a { background: \\75 rl(//evil.example/x) }", "found //evil.example/x"),
    (".a { background: u\\72l('//evil.example/x') }", "found //evil.example/x"),
    (".a { background: URL( '/theme/../secret.png' ) }", "found /theme/../secret.png"),
    (".a { background: url(/theme/..%2f..%2fx.png) }", "found /theme/..%2f..%2fx.png"),
    (".a { background: url(/theme/x.png?typed) }", "found /theme/x.png?typed"),
    (".a { background: url(/theme//x.png) }", "found /theme//x.png"),
    (".a { background: url(/theme/.hidden.png) }", "found /theme/.hidden.png"),
    (".a { background: url(/logout) }", "found /logout"),
    (".a { background: url(theme/x.png) }", "found theme/x.png"),
    (".a { background: url(/theme/x.js) }", "found /theme/x.js"),
    (".a { background: url() }", "found none"),
    (".a { background: url(javascript:alert(1)) }", "expected url(img/NAME); found an address with quotes"),
    (".a { background: url('/theme/a.png' type('x')) }", "webp or avif); found none"),
    (".a { background: url(data:image/svg+xml,<svg>) }", "expected text without <"),
    (".a { background: url(data:image/svg+xml;base64,PHN2Zz4=) }", "expected a png, webp or jpeg of at most 4 kB"),
    (f".a {{ background: url({PNG}{'A' * 4096}) }}", "expected a png, webp or jpeg of at most 4 kB"),
    (".a { background: image-set('//evil.example/x' 1x) }", "found image-set(): write url(img/NAME)"),
    (".a { background: -webkit-image-set(url(//evil.example/x) 1x) }", "found -webkit-image-set()"),
    (".a { background: src('//evil.example/x') }", "found src(): write url(img/NAME)"),
    (":root { --own-x: url(//evil.example/x) }", "found //evil.example/x"),
    (".a { cursor: url(/theme/x.png), auto }", "expected cursor without url()"),
    (".a { fill: url(/theme/x.svg) }", "expected fill without url()"),
    ("@font-face { font-family: X; src: url(/theme/x.png); font-display: swap }", "a file of the theme (woff2)"),
    ("@font-face { font-family: X; src: local(Arial); font-display: swap }", "no address"),
    ("@font-face { font-family: X; src: url(/theme/x.woff2) }", "expected font-display in @font-face; found none"),
    # At-rules
    ("@import url(//evil.example/x.css);", "found @import: copy its rules into this file"),
    ("@\\69mport '//evil.example/x.css';", "found @import"),
    ("@IMPORT '/theme/x.css';", "found @IMPORT"),
    ("@charset 'utf-7';", "found @charset"),
    ("@namespace svg url(x);", "found @namespace"),
    ("@layer a { .b { color: red } }", "found @layer"),
    ("@page { margin: 0 }", "found @page: use @media print"),
    ("@property --own-x { syntax: '*' }", "found @property"),
    ("@container (width > 1px) { .b { color: red } }", "found @container: use @media"),
    ("@keyframes leave { to { opacity: 0 } }", "expected a name that begins with own-"),
    (
        "@media print { @media print { @media print { @media print { .a { color: red } } } } }",
        "expected at most 3 at-rules",
    ),
    ("@media (min-width: url(x)) { .a { color: red } }", "expected a condition such as (min-width: 860px)"),
    (
        "@supports selector(:has(a)) { .a { color: red } }",
        "expected a condition such as (min-width: 860px); found function",
    ),
    ("@media { .a { color: red } }", "expected a condition after @media; found none"),
    # What people type
    (".control[value^=a] { color: red }", "found [value]: other attributes hold what people typed"),
    ("input[VALUE='a'] { color: red }", "found [VALUE]"),
    ("input[\\76 alue] { color: red }", "found [value]"),
    ("form:has([value^=a]) { color: red }", "found [value]"),
    ("input[name=csrf] { color: red }", "found [name]"),
    (".control:placeholder-shown { color: red }", "found :placeholder-shown: themes cannot read what people type"),
    (".control:valid { color: red }", "found :valid"),
    (".a::after { content: attr(value) }", "found attr(): it would show what fields contain"),
    (":root { --own-x: attr(value) }", "found attr()"),
    (
        "@font-face { font-family: X; src: url(/theme/x.woff2); font-display: swap; unicode-range: U+61 }",
        "a range of letters",
    ),
    (
        "@font-face { font-family: X; src: url(/theme/x.woff2); font-display: swap; unicode-range: none }",
        "found unicode-range",
    ),
    ("::-webkit-scrollbar { color: red }", "found ::-webkit-scrollbar"),
    # Scripts, markup and disguises
    (".a { behavior: none }", "found behavior: it runs code"),
    (".a { -moz-binding: none }", "found -moz-binding: it runs code"),
    (".a { width: expression(alert(1)) }", "found expression(): it runs code"),
    (".a { width: expr/**/ession(alert(1)) }", "expected a function such as var(), calc() or rgb(); found ession()"),
    (".a::after { content: '</style><script>' }", "expected text without <"),
    (".a::after { content: '\\3c/style>' }", "expected text without <"),
    ("</style><script>alert(1)</script>", "expected { after a selector"),
    ("</style><script>{}</script>", "found <: delete it"),
    ("<!-- .a { color: red } -->", "found <!--"),
    (".a { co\\lor: red; --own-\\;: 1 }", "expected a name of letters, digits, - and _; found --own-;"),
    (".own-\u212a { color: red }", "found own-\u212a: rename it"),
    (".\u043ewn-a { color: red }", "rename it"),
    (".a { color: re\x00d }", "expected characters that can be seen; found U+0000"),
    ("\ufeff.a { color: red }", "found U+FEFF"),
    (".a { color: red /* \u202e */ }", "found U+202E"),
    (".a::after { content: '\\202e' }", "found U+202E"),
    (".a::after { content: '\\d800' }", "found U+D800"),
    # Errors
    (".a { color: red", "expected } for this {"),
    ("@media print { .a { color: red }", "expected } for this {"),
    (".a { color: rgb(1 2 3 }", "expected ) for this rgb("),
    (".a { color: red } }", "expected an opening bracket before }"),
    (".a { color: red } /* and so on", "expected */ at the end of the comment"),
    (".a::after { content: 'x\n' }", "expected the closing quote on the same line"),
    ('.a { content: "x', "expected the closing quote on the same line"),
    (".a { color red }", "expected a declaration such as color: #1d2433"),
    (".a { color: red\n background: red }", "expected ; after each declaration"),
    (".a { color: }", "expected a value for color"),
    (".a { .b { color: red } }", "found a rule within a rule"),
    (".a { &:hover { color: red } }", "found a rule within a rule"),
    ("& .a { color: red }", "found &: write the whole selector"),
    (".a > > .b { color: red }", "expected a selector before >"),
    (".a, , .b { color: red }", "expected a selector before ,"),
    ("> .a { color: red }", "expected a selector before >"),
    ("#email { color: red }", "found the id #email"),
    (".a:before { color: red }", "found :before: write ::before"),
    ("{ color: red }", "expected a selector such as .button; found none"),
    (".a { color: red !important }", "without !important"),
    (".a { color: red !ie }", "found !"),
    (".a { colr: red }", "found colr: did you mean color?"),
    (".a { width: 20foo }", "found foo"),
    (":root { --ink: red }", "expected color or background in theme.yaml"),
    (":root { --radus: 1px }", "found --radus: did you mean --radius?"),
    (":root { --dir: 1 }", "found --dir: name your own --own-dir"),
    ("html { font-size: 62.5% }", "found the root of the page: select body or a class"),
    ("* { font-size: 12px }", "found the root of the page"),
    ("[dir] { font-size: 12px }", "found the root of the page"),
    (":is(.a, html) { font-size: 12px }", "found the root of the page"),
    (":not(.a) { font-size: 12px }", "found the root of the page"),
    (":not(.a > *) { font-size: 12px }", "found the root of the page"),
    ("body, * { font-size: 12px }", "found the root of the page"),
    (".a > *, :has(> body) { font-size: 12px }", "found the root of the page"),
    (":where(*, .a > *) { font-size: 12px }", "found the root of the page"),
    (
        ".own-a { content: 'a text of more than forty characters stays out' }",
        "expected a text of at most 40 characters",
    ),
    (".own-a { content: var(--own-x) }", "expected a text of at most 40 characters"),
    # Covering, and out of sight
    (".own-a { position: fixed }", "found another, which could cover the form"),
    (".own-a { position: var(--own-p) }", "found another, which could cover the form"),
    (".own-a { z-index: 1 }", "expected auto, 0 or a negative number"),
    (".own-a { z-index: calc(1) }", "expected auto, 0 or a negative number"),
    (".own-a { margin-block-end: -900px }", "expected margins of at least 0"),
    (".own-a { margin: var(--own-m) } :root { --own-m: 0 0 -900px }", "expected margins of at least 0"),
    (".own-a:focus-visible { outline-color: transparent }", "expected a color without transparency"),
    (":focus-visible { outline: none }", "found outline: people must see where the focus is"),
    (":focus-visible { outline-offset: -9px }", "expected 0 to 8px"),
]


@pytest.mark.parametrize(("css", "words"), HOSTILE)
def test_hostile_css_is_refused_with_a_remedy(css: str, words: str) -> None:
    result = checked(css)

    assert (result.css, result.urls) == ("", ())
    found = [problem.sentence for problem in result.problems]
    assert any(words in sentence for sentence in found), found
    assert all(sentence.startswith("expected ") and "; found " in sentence for sentence in found), found


@pytest.mark.parametrize(
    "css",
    [
        "(" * 16_000,
        ".a{" * 5_000,
        "@media print{" * 1_200,
        "\\" * 16_000,
        ".a:not(" * 2_000,
        ".a{width:" + "calc(" * 3_000,
        ".a{width:" + "9" * 16_000 + "}",
        ".a{margin:" + "1px " * 4_000 + "}",
        "a," * 8_000,
        "a>" * 8_000,
        "a{}" * 5_000,
        "/*" * 8_000,
        "url(" * 4_000,
        "'\n" * 8_000,
        "a b " * 4_000,
        ":root{" + "".join(f"--own-{n}:var(--own-{n + 1});" for n in range(600)) + "}",
        ":root{"
        + "".join(f"--own-{n}:var(--own-{n + 1}) var(--own-{n + 1});" for n in range(350))
        + "} .a { margin: var(--own-0) }",
        ":root{--own-a:" + "1px " * 1_900 + "}" + ".a{gap:var(--own-a)}" * 390,
        ".a{}" * 401,
    ],
)
def test_costly_sheet_is_bounded(css: str) -> None:
    assert len(css) <= MAX_BYTES
    assert len(checked(css).problems) <= MAX_PROBLEMS


def test_variables_that_read_one_another_end() -> None:
    assert checked(":root { --own-a: var(--own-b); --own-b: var(--own-a) } .a { margin: var(--own-a) }").problems == ()


def test_large_sheet_is_refused() -> None:
    assert sentences("a" * (MAX_BYTES + 1)) == ["expected at most 16 kB; found 16 kB: delete rules that no page needs"]
    assert sentences(".a { color: red }\n" * 401) == [
        "expected at most 400 rules; found more: join those with the same declarations"
    ]
    assert sentences(", ".join([".button--small"] * 30) + " { color: red }")[0].startswith(
        "expected selectors of at most 300 characters"
    )


def test_problems_have_the_line_of_what_is_wrong() -> None:
    problems = checked(".a {\n  color: red;\n  position: fixed;\n}\n\n@import 'x';\n.b { margin: -1px }\n").problems

    assert [problem.line for problem in problems] == [3, 6, 7]


def test_data_picture_of_a_few_bytes_is_accepted() -> None:
    result = checked(f".own-a {{ background: url({PNG}) }}")

    assert (result.problems, result.urls) == ((), ())
    assert PNG in result.css
