"""Values and files of themes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.support.hostile_themes.hostile_theme import BRAND, CSS, DE, LOGIN, HostileTheme

# fmt: off
VALUES: Final[Mapping[str, HostileTheme]] = {
    "name with markup": HostileTheme({BRAND: "display_name: '<script>alert(1)</script>'"}),
    "name with quotes": HostileTheme({BRAND: "display_name: '\" onload=\"alert(1)'"}),
    "name with a bidi override": HostileTheme(
        {BRAND: 'display_name: "a\\u202Egnp.exe"'},
        problem="theme.yaml:1: display_name: expected one line without control characters",
    ),
    "name with a line break": HostileTheme(
        {BRAND: 'display_name: "a\\r\\nBcc: eve@example.com"'},
        problem="theme.yaml:1: display_name: expected one line without control characters",
    ),
    "name with a control character": HostileTheme(
        {BRAND: 'display_name: "a\\x1bb"'},
        problem="theme.yaml:1: display_name: expected one line without control characters",
    ),
    "name with NUL": HostileTheme(
        {BRAND: 'display_name: "a\\0b"'},
        problem="theme.yaml:1: expected text without NUL characters or lone surrogates",
    ),
    "name with a lone surrogate": HostileTheme(
        {BRAND: 'display_name: "a\\ud800b"'},
        problem="theme.yaml:1: expected valid YAML",
    ),
    "name of 100,000 characters": HostileTheme(
        {BRAND: f"display_name: {'x' * 100_000}"},
        problem="theme.yaml:1: display_name: expected at most 200 characters",
    ),
    "name of a template": HostileTheme({BRAND: "display_name: '{{ 7 * 7 }}{% include \"x\" %}'"}),
    "sentence with markup": HostileTheme({BRAND: "sentence: {en: '<img src=x onerror=alert(1)>'}"}),
    "sentence of 100,000 characters": HostileTheme(
        {BRAND: f"sentence: {{en: {'x' * 100_000}}}"},
        problem="theme.yaml:1: sentence.en: expected at most 600 characters",
    ),
    "sentence with control characters": HostileTheme(
        {BRAND: 'sentence: {en: "a\\x1bb"}'},
        problem="theme.yaml:1: sentence.en: expected one line without control characters",
    ),
    "sentence of markup as a language": HostileTheme(
        {BRAND: "sentence: {'\"><script>': x}"},
        problem='theme.yaml:1: sentence."><script>: expected a language of the pages: en, de, ar',
    ),
    "signature with markup": HostileTheme({BRAND: "signature: '</p><form action=//eve.example>'"}),
    "signature of 100,000 characters": HostileTheme(
        {BRAND: f"signature: {'x' * 100_000}"},
        problem="theme.yaml:1: signature: expected at most 600 characters",
    ),
    "color as CSS": HostileTheme(
        {BRAND: "color: 'red;}*{display:none'"},
        problem="theme.yaml:1: color: expected a color such as #3b49d9",
    ),
    "color with a line break": HostileTheme(
        {BRAND: 'color: "#123456\\n"'},
        problem="theme.yaml:1: color: expected a color such as #3b49d9",
    ),
    "ground as CSS": HostileTheme(
        {BRAND: "background: '#fff}</style>'"},
        problem="theme.yaml:1: background: expected a color such as #fbfaf7",
    ),
    "font as CSS": HostileTheme(
        {BRAND: "font: 'Inter; } * { display: none'"},
        problem="theme.yaml:1: font: expected font names between commas, such as Inter, Arial, sans-serif",
    ),
    "font with an address": HostileTheme(
        {BRAND: "font: 'url(https://eve.example)'"},
        problem="theme.yaml:1: font: expected font names between commas, such as Inter, Arial, sans-serif",
    ),
    "font file that ends a text": HostileTheme(
        {BRAND: "font: Inter\nfont_file: '/theme/a\").woff2'"},
        problem="theme.yaml:2: font_file: expected an address without spaces, quotes, backslashes or angle brackets",
    ),
    "radius beyond": HostileTheme({BRAND: "radius_px: 99999"}, problem="theme.yaml:1: radius_px: expected at most 24"),
    "radius of CSS": HostileTheme(
        {BRAND: "radius_px: '1px;}'"},
        problem="theme.yaml:1: radius_px: expected a whole number",
    ),
    "shape of none": HostileTheme(
        {BRAND: "button_shape: '\"><script>'"},
        problem="theme.yaml:1: button_shape: expected one of square, rounded, pill",
    ),
    "link of a script": HostileTheme(
        {BRAND: "links: {privacy: 'javascript:alert(1)'}"},
        problem="theme.yaml:1: links.privacy: expected a web address such as https://www.example.com/page",
    ),
    "link with quotes": HostileTheme(
        {BRAND: "links: {privacy: 'https://a.example/\" onclick=\"alert(1)'}"},
        problem="theme.yaml:1: links.privacy: expected a web address such as https://www.example.com/page",
    ),
    "link of data": HostileTheme(
        {BRAND: "links: {help: 'data:text/html,x'}"},
        problem="theme.yaml:1: links.help: expected a web address such as https://www.example.com/page",
    ),
    "link with credentials": HostileTheme(
        {BRAND: "links: {help: 'https://acme.example@eve.example/'}"},
        problem="theme.yaml:1: links.help: expected a web address such as https://www.example.com/page",
    ),
    "link of no kind": HostileTheme(
        {BRAND: "links: {'\"><script>': 'https://a.example'}"},
        problem='theme.yaml:1: links."><script>: expected a link that the pages have: privacy, terms, help',
    ),
    "logo as a script": HostileTheme(
        {BRAND: "logo: 'javascript:alert(1)'"},
        problem="theme.yaml:1: logo: expected an https address, a file of the theme such as img/logo.svg, a path such as /theme",
    ),
    "logo that ends its attribute": HostileTheme(
        {BRAND: "logo: 'https://a.example/a.png\" onerror=\"alert(1)'"},
        problem="theme.yaml:1: logo: expected an https address, a file of the theme such as img/logo.svg, a path such as /theme",
    ),
    "logo as HTML": HostileTheme(
        {BRAND: "logo: 'data:text/html,<script>alert(1)</script>'"},
        problem="theme.yaml:1: logo: expected an https address, a file of the theme such as img/logo.svg, a path such as /theme",
    ),
    "logo that is too large": HostileTheme(
        {BRAND: "logo: a.svg", "a.svg": "x" * 20_000},
        problem="theme.yaml:1: logo: expected at most 8900 bytes for all logo files",
    ),
    "logo outside of the folder": HostileTheme(
        {BRAND: "logo: ../../../etc/passwd.svg"},
        problem="theme.yaml:1: logo: expected an svg, png, webp or jpg file in the theme folder, a file of static/img such as i",
    ),
    "logo by an absolute path": HostileTheme({BRAND: "logo: /etc/passwd"}),
    "picture of CSS": HostileTheme({BRAND: "scene: picture\npicture: 'https://a.example/a.png);}'"}),
    "key of a later version": HostileTheme(
        {BRAND: "contract: 2\ncolor: '#123456'"},
        problem="theme.yaml:1: contract: expected a contract that this Gatehouse has: at most 1",
    ),
    "key that does not exist": HostileTheme(
        {BRAND: "script: alert(1)"},
        problem="theme.yaml:1: script: isn't a known key; did you mean scripts?",
    ),
    "template in theme.yaml": HostileTheme(
        {BRAND: "templates: {'../../x.html': x}"},
        problem="theme.yaml:1: templates.../../x.html: expected a template that a theme can replace, such as",
    ),
    "style sheet in theme.yaml": HostileTheme(
        {BRAND: "css: '* { display: none }'"},
        problem="theme.yaml:1: css: line 1: expected an element or a class for display",
    ),
    "style sheet in two places": HostileTheme(
        {BRAND: "css: 'a { color: #111111 }'", CSS: "a { color: #222222 }"},
        problem="theme.yaml:1: css: expected no css here, because hostile/static/css/theme.css has them",
    ),
    "bomb of aliases": HostileTheme(
        {BRAND: "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"},
        problem="theme.yaml:1: expected no anchors (&) or aliases (*); repeat the values instead",
    ),
    "merge of aliases": HostileTheme(
        {BRAND: "a: &a {color: x}\n<<: *a"},
        problem="theme.yaml:1: expected no anchors (&) or aliases (*); repeat the values instead",
    ),
    "object of Python": HostileTheme(
        {BRAND: "color: !!python/object/apply:os.system ['id']"},
        problem="theme.yaml:1: expected no tags",
    ),
    "tag of binary": HostileTheme({BRAND: "logo: !!binary AAAA"}, problem="theme.yaml:1: expected no tags"),
    "lists in lists": HostileTheme(
        {BRAND: "color: " + "[" * 5_000 + "]" * 5_000},
        problem="theme.yaml:1: expected at most 20 levels",
    ),
    "maps in maps": HostileTheme(
        {BRAND: "color: " + "{a: " * 2_000 + "}" * 2_000},
        problem="theme.yaml:1: expected at most 20 levels",
    ),
    "key twice": HostileTheme(
        {BRAND: "color: '#123456'\ncolor: '#654321'"},
        problem="theme.yaml:2: color: is listed twice",
    ),
    "two documents": HostileTheme(
        {BRAND: "color: '#123456'\n---\ncolor: x"},
        problem="theme.yaml:2: expected one document",
    ),
    "key of a list": HostileTheme({BRAND: "? [a, b]\n: x"}, problem="theme.yaml:1: expected a plain key"),
    "number of 10,000 digits": HostileTheme(
        {BRAND: f"radius_px: {'9' * 10_000}"},
        problem="theme.yaml:1: radius_px: expected a whole number",
    ),
    "number that becomes infinite": HostileTheme(
        {BRAND: "radius_px: 1.0e999"},
        problem="theme.yaml:1: radius_px: expected a whole number",
    ),
    "list at the top": HostileTheme({BRAND: "- a"}, problem="theme.yaml:1: expected keys with values"),
    "text at the top": HostileTheme({BRAND: "x"}, problem="theme.yaml:1: expected keys with values"),
    "no UTF-8": HostileTheme({BRAND: b"display_name: \xff\xfe"}, problem="theme.yaml:1: expected UTF-8 text"),
    "UTF-16": HostileTheme({BRAND: "color: '#123456'".encode("utf-16")}, problem="theme.yaml:1: expected UTF-8 text"),
    "200,000 keys": HostileTheme(
        {BRAND: "".join(f"k{n}: x\n" for n in range(200_000))},
        problem="theme.yaml:1: expected at most 128 kB",
    ),
    "theme.yaml of 20 MB": HostileTheme({BRAND: b"#" * 20_000_000}, problem="theme.yaml:1: expected at most 128 kB"),
    "texts of 20 MB": HostileTheme({DE: b"#" * 20_000_000}, problem="texts/de.yaml:1: expected at most 128 kB"),
    "logo of 100 MB": HostileTheme(
        {BRAND: "logo: a.svg", "a.svg": b"\0" * 100_000_000},
        problem="a.svg:1: expected at most 5 MB",
    ),
    "template that is no UTF-8": HostileTheme(
        {LOGIN: b"a\nb\xff"},
        problem="templates/pages/sign_in/login.html:2: expected UTF-8 text",
    ),
    "style sheet that is no UTF-8": HostileTheme(
        {CSS: b"a\nb\xff"},
        problem="static/css/theme.css:2: expected UTF-8 text",
    ),
    "texts that are no UTF-8": HostileTheme(
        {DE: b"a: b\nsign_in: \xff"},
        problem="texts/de.yaml:2: expected UTF-8 text",
    ),
    "template in another folder": HostileTheme(
        {"templates/pages/sign_in/../../x.html": "x"},
        problem="templates/x.html:1: expected a template that a theme can replace, such as layouts/split.html",
    ),
    "name of a template in capitals": HostileTheme(
        {"templates/pages/sign_in/LOGIN.html": "x"},
        problem="templates/pages/sign_in/LOGIN.html:1: expected a template that a theme can replace, such as",
    ),
    "10,000 templates": HostileTheme(
        {f"templates/pages/sign_in/login{n}.html": "x" for n in range(10_000)},
        problem="templates/pages/sign_in:1: expected at most 1,000 files and folders in a theme",
    ),
    "3,000 static files": HostileTheme(
        {f"static/img/{n}.png": "x" for n in range(3_000)},
        problem="static/img:1: expected at most 1,000 files and folders in a theme",
    ),
    "3,000 languages": HostileTheme(
        {f"texts/x{n}.yaml": "a: b" for n in range(3_000)},
        problem="texts:1: expected at most 1,000 files and folders in a theme",
    ),
    "template by a link": HostileTheme(
        {},
        {LOGIN: "/etc/passwd"},
        problem="templates/pages/sign_in/login.html:1: expected a link within the theme folder",
    ),
    "template by a link in a circle": HostileTheme(
        {},
        {LOGIN: "login.html"},
        problem="templates/pages/sign_in/login.html:1: expected a link to a file",
    ),
    "template by a broken link": HostileTheme(
        {},
        {LOGIN: "nothing.html"},
        problem="templates/pages/sign_in/login.html:1: expected a link to a file",
    ),
    "template as a pipe": HostileTheme(
        {},
        {LOGIN: ""},
        problem="templates/pages/sign_in/login.html:1: expected a file or a folder",
    ),
    "templates by a link": HostileTheme(
        {},
        {"templates/pages": "/etc"},
        problem="templates/pages:1: expected a link to a file; found one to a folder",
    ),
    "style sheet by a link": HostileTheme(
        {},
        {CSS: "/etc/passwd"},
        problem="static/css/theme.css:1: expected a link within the theme folder",
    ),
    "style sheet by a link in a circle": HostileTheme(
        {},
        {CSS: "theme.css"},
        problem="static/css/theme.css:1: expected a link to a file",
    ),
    "style sheet as a pipe": HostileTheme(
        {},
        {CSS: ""},
        problem="static/css/theme.css:1: expected a file or a folder",
    ),
    "style sheet as a device": HostileTheme(
        {},
        {CSS: "/dev/zero"},
        problem="static/css/theme.css:1: expected a link to a file",
    ),
    "texts by a link": HostileTheme(
        {},
        {DE: "/etc/passwd"},
        problem="texts/de.yaml:1: expected a link within the theme folder",
    ),
    "texts by a link in a circle": HostileTheme(
        {},
        {DE: "de.yaml"},
        problem="texts/de.yaml:1: expected a link to a file",
    ),
    "texts by a broken link": HostileTheme(
        {},
        {DE: "nothing.yaml"},
        problem="texts/de.yaml:1: expected a link to a file",
    ),
    "texts as a pipe": HostileTheme({}, {DE: ""}, problem="texts/de.yaml:1: expected a file or a folder"),
    "texts as a device": HostileTheme(
        {},
        {DE: "/dev/zero"},
        problem="texts/de.yaml:1: expected a link to a file",
    ),
    "theme.yaml by a link": HostileTheme({}, {BRAND: "/etc/passwd"}, problem="theme.yaml:1: expected a link within the theme folder"),
    "theme.yaml by a link in a circle": HostileTheme(
        {},
        {BRAND: "theme.yaml"},
        problem="theme.yaml:1: expected a link to a file",
    ),
    "theme.yaml as a pipe": HostileTheme(
        {},
        {BRAND: ""},
        problem="theme.yaml:1: expected a file or a folder",
    ),
    "theme.yaml as a device": HostileTheme(
        {},
        {BRAND: "/dev/zero"},
        problem="theme.yaml:1: expected a link to a file",
    ),
    "logo by a link": HostileTheme(
        {BRAND: "logo: a.svg"},
        {"a.svg": "/etc/passwd"},
        problem="a.svg:1: expected a link within the theme folder",
    ),
    "logo by a link in a circle": HostileTheme(
        {BRAND: "logo: a.svg"},
        {"a.svg": "a.svg"},
        problem="a.svg:1: expected a link to a file",
    ),
    "logo as a pipe": HostileTheme(
        {BRAND: "logo: a.svg"},
        {"a.svg": ""},
        problem="a.svg:1: expected a file or a folder",
    ),
    "logo with NUL in its name": HostileTheme(
        {BRAND: 'logo: "a\\x00.svg"'},
        problem="theme.yaml:1: expected text without NUL characters or lone surrogates",
    ),
    "logo with a long name": HostileTheme(
        {BRAND: f"logo: {'a' * 5_000}.svg"},
        problem="theme.yaml:1: logo: expected an svg, png, webp or jpg file in the theme folder, a file of static/img such as i",
    ),
    "folder as a file": HostileTheme({"templates": "x", "texts": "x", "static": "x"}),
    "script in static": HostileTheme(
        {"static/js/a.js": "alert(1)"},
        problem="static/js/a.js:1: expected css/theme.css, img/NAME with the ending svg, png, jpg, webp, avif, ico, or fonts/NA",
    ),
    "page in static": HostileTheme(
        {"static/img/a.html": "<script>"},
        problem="static/img/a.html:1: expected css/theme.css, img/NAME with the ending svg, png, jpg, webp, avif, ico, or fonts",
    ),
    "style sheet of another name": HostileTheme(
        {"static/css/other.css": "a { color: red }"},
        problem="static/css/other.css:1: expected css/theme.css, img/NAME with the ending svg, png, jpg, webp, avif, ico, or fo",
    ),
}
# fmt: on
