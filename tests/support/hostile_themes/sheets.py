"""Style sheets that read, send, load, hide or cover something."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import CSS, HostileTheme, in_css

# fmt: off
STYLE_SHEETS: Final[Mapping[str, HostileTheme]] = {
    # What reads, sends or loads
    "value of a field": HostileTheme(
        in_css('input[value^="a"] { background: url(/theme/a.png) }'),
        problem="static/css/theme.css:2: expected one of [aria-current], [aria-expanded], [dir], [lang], [open]",
    ),
    "name of a field": HostileTheme(
        in_css('[name="password"] { color: #111111 }'),
        problem="static/css/theme.css:2: expected one of [aria-current], [aria-expanded], [dir], [lang], [open]",
    ),
    "token of a form": HostileTheme(
        in_css('[data-token] { color: #111111 }'),
        problem="static/css/theme.css:2: expected one of [aria-current], [aria-expanded], [dir], [lang], [open]",
    ),
    "state of what is typed": HostileTheme(
        in_css("input:valid { background: url(/theme/a.png) }"),
        problem="static/css/theme.css:2: expected a state such as :hover, :focus-visible, :checked or :disabled",
    ),
    "state of the pattern": HostileTheme(
        in_css("input:user-invalid { color: #111111 }"),
        problem="static/css/theme.css:2: expected a state such as :hover, :focus-visible, :checked or :disabled",
    ),
    "placeholder as a state": HostileTheme(
        in_css("input:placeholder-shown { color: #111111 }"),
        problem="static/css/theme.css:2: expected a state such as :hover, :focus-visible, :checked or :disabled",
    ),
    "filled by the browser": HostileTheme(
        in_css("input:autofill { color: #111111 }"),
        problem="static/css/theme.css:2: expected a state such as :hover, :focus-visible, :checked or :disabled",
    ),
    "value inside has": HostileTheme(
        in_css('body:has(input[value="a"]) { color: #111111 }'),
        problem="static/css/theme.css:2: expected one of [aria-current], [aria-expanded], [dir], [lang], [open]",
    ),
    "value inside not": HostileTheme(
        in_css('input:not([value=""]) { color: #111111 }'),
        problem="static/css/theme.css:2: expected one of [aria-current], [aria-expanded], [dir], [lang], [open]",
    ),
    "value inside nth-child": HostileTheme(
        in_css(':nth-child(1 of [value="a"]) { color: #111111 }'),
        problem="static/css/theme.css:2: expected a number or a language in :nth-child(), such as 2n+1",
    ),
    "attribute as content": HostileTheme(
        in_css(".own-a::before { content: attr(value) }"),
        problem="static/css/theme.css:2: expected a function such as var(), calc() or rgb()",
    ),
    "attribute in a property": HostileTheme(
        in_css(":root { --own-a: attr(value) }"),
        problem="static/css/theme.css:2: expected a function such as var(), calc() or rgb()",
    ),
    "letters of a font": HostileTheme(
        in_css('@font-face { font-family: "a"; src: url(/theme/a.woff2); font-display: swap; unicode-range: U+61 }'),
        problem="static/css/theme.css:2: expected whole fonts",
    ),
    "local font": HostileTheme(
        in_css('@font-face { font-family: "a"; src: local("a"); font-display: swap }'),
        problem="static/css/theme.css:2: expected src in @font-face",
    ),
    "font of another host": HostileTheme(
        in_css('@font-face { font-family: "a"; src: url(https://eve.example/a.woff2); font-display: swap }'),
        problem="static/css/theme.css:2: expected url(fonts/NAME) with a file of the theme (woff2)",
    ),
    "picture of another host": HostileTheme(
        in_css(".own-a { background: url(https://eve.example/a.png) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "picture without scheme": HostileTheme(
        in_css(".own-a { background: url(//eve.example/a.png) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "picture by data": HostileTheme(
        in_css(".own-a { background: url(data:image/svg+xml;base64,AAAA) }"),
        problem="static/css/theme.css:2: expected a png, webp or jpeg of at most 4 kB as data:image/…;base64,…",
    ),
    "picture by a property": HostileTheme(
        in_css(":root { --own-a: url(https://eve.example/a.png) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "picture by image-set": HostileTheme(
        in_css('.own-a { background: image-set("https://eve.example/a.png" 1x) }'),
        problem="static/css/theme.css:2: expected a function such as var(), calc() or rgb()",
    ),
    "picture by cross-fade": HostileTheme(
        in_css(".own-a { background: cross-fade(url(https://eve.example/a.png), red) }"),
        problem="static/css/theme.css:2: expected a function such as var(), calc() or rgb()",
    ),
    "picture with two dots": HostileTheme(
        in_css(".own-a { background: url(/theme/../logout) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "picture with an escape": HostileTheme(
        in_css(".own-a { background: url(/theme/\\2e\\2e/logout) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "url in disguise": HostileTheme(
        in_css(".own-a { background: \\75rl(https://eve.example) }"),
        problem="static/css/theme.css:2: expected url(img/NAME) with a file of the theme (svg, png, jpg, webp or avif)",
    ),
    "import": HostileTheme(
        in_css("@import url(https://eve.example/a.css);"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "import in disguise": HostileTheme(
        in_css("@\\69mport 'https://eve.example/a.css';"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "import after a rule": HostileTheme(
        in_css("a { color: #111111 } @import '/theme/b.css';"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "namespace": HostileTheme(
        in_css("@namespace url(https://eve.example);"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "charset": HostileTheme(
        in_css('@charset "utf-7";'),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "document": HostileTheme(
        in_css("@-moz-document url-prefix() { a { color: red } }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "cursor of a file": HostileTheme(
        in_css("body { cursor: url(/theme/a.png), auto }"),
        problem="static/css/theme.css:2: expected cursor without url()",
    ),
    "layer": HostileTheme(
        in_css("@layer own { a { color: #111111 } }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "property": HostileTheme(
        in_css("@property --own-a { syntax: '*'; inherits: false }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "scope": HostileTheme(
        in_css("@scope (form) { a { color: #111111 } }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "container": HostileTheme(
        in_css("@container (min-width: 1px) { a { color: #111111 } }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "start of styles": HostileTheme(
        in_css("@starting-style { a { opacity: 0 } }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    "view transition": HostileTheme(
        in_css("@view-transition { navigation: auto }"),
        problem="static/css/theme.css:2: expected @media, @supports, @keyframes or @font-face",
    ),
    # What runs, or leaves the style sheet
    "end of the element": HostileTheme(
        in_css('.own-a::before { content: "</style><script>alert(1)</script>" }'),
        problem="static/css/theme.css:2: expected text without <, >, \\ and unseen characters",
    ),
    "end of the element in a comment": HostileTheme(
        in_css("/* </style><script>alert(1)</script> */ a { color: #111111 }"),
    ),
    "end of the element in a name": HostileTheme(
        in_css("@font-face { font-family: </style>; }"),
        problem="static/css/theme.css:2: expected font-display in @font-face",
    ),
    "HTML comment": HostileTheme(
        in_css("<!-- a { color: #111111 } -->"),
        problem="static/css/theme.css:2: expected CSS without HTML",
    ),
    "escape of an angle bracket": HostileTheme(
        in_css('.own-a::before { content: "\\3c/style\\3e" }'),
        problem="static/css/theme.css:2: expected text without <, >, \\ and unseen characters",
    ),
    "escape of a name": HostileTheme(in_css("\\69nput { color: #111111 }")),
    "escape of a property": HostileTheme(
        in_css(".own-a { b\\61ckground: url(https://eve.example) }"),
        problem="static/css/theme.css:2: expected a name of letters, digits, - and _",
    ),
    "expression": HostileTheme(
        in_css(".own-a { width: expression(alert(1)) }"),
        problem="static/css/theme.css:2: expected a function such as var(), calc() or rgb()",
    ),
    "behavior": HostileTheme(
        in_css(".own-a { behavior: url(/theme/a.htc) }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "binding": HostileTheme(
        in_css(".own-a { -moz-binding: url(https://eve.example) }"),
        problem="static/css/theme.css:2: expected a property that themes may set",
    ),
    "unclosed block": HostileTheme(
        in_css(".own-a { color: #111111"),
        problem="static/css/theme.css:2: expected } for this {",
    ),
    "unclosed comment": HostileTheme(
        in_css("a { color: #111111 } /*"),
        problem="static/css/theme.css:2: expected */ at the end of the comment",
    ),
    "unclosed text": HostileTheme(
        in_css('.own-a::before { content: "x'),
        problem="static/css/theme.css:2: expected the closing quote on the same line",
    ),
    "stray bracket": HostileTheme(
        in_css("} * { display: none }"),
        problem="static/css/theme.css:2: expected an opening bracket before }",
    ),
    "nested rule": HostileTheme(
        in_css(".own-a { & input { display: none } }"),
        problem="static/css/theme.css:2: expected declarations only",
    ),
    "bidi control": HostileTheme(
        in_css(".own-a { color: #111111 /* \u202e */ }"),
        problem="static/css/theme.css:2: expected characters that can be seen",
    ),
    "NUL": HostileTheme(
        {CSS: "a\0 { color: #111111 }"},
        problem="static/css/theme.css:1: expected characters that can be seen",
    ),
    "lone surrogate": HostileTheme(
        {CSS: b"a { color: \xed\xa0\x80 }"},
        problem="static/css/theme.css:1: expected UTF-8 text",
    ),
    "form feed": HostileTheme(
        in_css("a\f{ color: #111111 }"),
        problem="static/css/theme.css:2: expected characters that can be seen",
    ),
    # What hides, covers or breaks the form and its errors
    "form hidden": HostileTheme(
        in_css("form { display: none }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "errors hidden": HostileTheme(
        in_css(".notice { display: none }"),
        problem="static/css/theme.css:2: expected one of block, inline, inline-block, flex, inline-flex, grid,",
    ),
    "errors moved away": HostileTheme(
        in_css(".notice { position: absolute; left: -9999px }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors without height": HostileTheme(
        in_css(".notice { max-height: 0; overflow: hidden }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors shrunk": HostileTheme(
        in_css(".notice { font-size: 1px }"),
        problem="static/css/theme.css:2: expected a size of 11px to 96px or 0.75rem to 6rem (em and % multiply from parent",
    ),
    "errors shrunk by em": HostileTheme(
        in_css(".notice { font-size: 0.01em }"),
        problem="static/css/theme.css:2: expected a size of 11px to 96px or 0.75rem to 6rem (em and % multiply from parent",
    ),
    "errors transparent": HostileTheme(
        in_css(".notice { opacity: 0 }"),
        problem="static/css/theme.css:2: expected this property only where each selector ends with a class of your own,",
    ),
    "errors in no color": HostileTheme(
        in_css(".notice { color: transparent }"),
        problem="static/css/theme.css:2: expected a color without transparency, such as #1d2433, rgb(29 36 51) or",
    ),
}
