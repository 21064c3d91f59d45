"""Scripts of a theme: what is accepted, and hostile ones, each with what is expected instead."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from app.contract.tenants.branding import SCRIPT_PLACES, Brand
from app.contract.tenants.settings import ThemeScripts
from app.contract.themes import theme_problems
from app.contract.themes.theme_scripts import MAX_ELEMENTS, elements, origins_of, problems
from app.hub.rendering.own_scripts import OwnScripts

ORIGIN = "https://analytics.example"
ORIGINS = (ORIGIN, "https://cdn.example:8443")
HASH = "sha384-" + "A" * 64


def script(address: str, more: str = "") -> str:
    return f'<script src="{address}"{more}></script>'


def written(**scripts: str) -> list[str]:
    return str(OwnScripts(elements(scripts, ORIGINS)).markup("n0nce")).splitlines()


def test_elements_are_built_anew_in_the_order_of_their_places() -> None:
    assert written(
        end_script=f"\n  {script(f'{ORIGIN}/end.js', ' async')}\r\n",
        js=f"{ORIGIN}/one.js\n\n https://cdn.example:8443/two.js?a=1&b=2 ",
        before_script=script(f"{ORIGIN}/a.js?x=1&amp;y=2", f' defer integrity="{HASH}" crossorigin data-site="a&quot;b&lt;c"'),
        head_tags=f'<link rel="preconnect" href="{ORIGIN}" crossorigin><meta name="msvalidate.01" content="A&amp;B" />',
    ) == [
        f'<link rel="preconnect" href="{ORIGIN}" crossorigin>',
        '<meta name="msvalidate.01" content="A&amp;B">',
        f'<script src="{ORIGIN}/a.js?x=1&amp;y=2" defer integrity="{HASH}" crossorigin data-site="a&#34;b&lt;c" nonce="n0nce"></script>',
        f'<script src="{ORIGIN}/one.js" nonce="n0nce" defer></script>',
        '<script src="https://cdn.example:8443/two.js?a=1&amp;b=2" nonce="n0nce" defer></script>',
        f'<script src="{ORIGIN}/end.js" async nonce="n0nce"></script>',
    ]  # fmt: skip


ADDRESSES = (
    "http://analytics.example/a.js",
    "//analytics.example/a.js",
    "/a.js",
    "a.js",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/javascript,alert(1)",
    "blob:https://analytics.example/1",
    "https://analytics.example",
    "https://analytics.example:443/a.js",
    "https://analytics.example:0/a.js",
    "https://analytics.example:99999/a.js",
    "https://analytics.example@evil.example/a.js",
    "https://u:p@analytics.example/a.js",
    "https:\\\\analytics.example/a.js",
    "https://analytics.example\\.evil.example/a.js",
    "https:///analytics.example/a.js",
    "https://analytics.example/a.js#x",
    "https://analytics.example/a b.js",
    "https://analytics.example/ä.js",
    "https://ANALYTICS.example/a.js",
    "https://*.example/a.js",
    "https://analytics.example;script-src */a.js",
    "https://analytics.example/a.js' 'unsafe-inline'",
    "https://[::1]/a.js",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_other_address_is_refused(address: str) -> None:
    assert elements({"js": address}, ORIGINS) == ()
    assert elements({"end_script": script(address)}, ORIGINS) == ()
    assert [*problems({"js": address})]
    assert [*problems({"end_script": script(address)})]


@pytest.mark.parametrize(
    "address",
    ["https://evil.example/a.js", "https://analytics.example.evil.example/a.js", "https://sub.analytics.example/a.js",
     "https://analytics.example:8443/a.js", "https://cdn.example/a.js"],
)  # fmt: skip
def test_origin_that_is_not_allowed_is_refused_and_left_out(address: str) -> None:
    scripts = {"js": f"{ORIGIN}/a.js\n{address}"}
    assert [*problems(scripts)] == []
    (found,) = problems(scripts, ORIGINS)
    assert (found.place, found.line) == ("js", 2)
    assert "https://analytics.example, https://cdn.example:8443" in found.expected
    assert [each.origin for each in elements(scripts, ORIGINS)] == [ORIGIN]
    assert elements(scripts, ()) == ()


@pytest.mark.parametrize(
    "markup",
    [
        "<script>alert(1)</script>",
        f'<script src="{ORIGIN}/a.js">alert(1)</script>',
        f'<script src="{ORIGIN}/a.js"></script><script>alert(1)</script>',
        f'<script src="{ORIGIN}/a.js">',
        f'<script src="{ORIGIN}/a.js"/>',
        f"<script src='{ORIGIN}/a.js'></script>",
        f"<script src={ORIGIN}/a.js></script>",
        f'<SCRIPT src="{ORIGIN}/a.js"></SCRIPT>',
        f'<script src="{ORIGIN}/a.js" src="https://evil.example/a.js"></script>',
        f'<script src="{ORIGIN}/a.js"onload="alert(1)"></script>',
        script(f"{ORIGIN}/a.js", ' onload="alert(1)"'),
        script(f"{ORIGIN}/a.js", ' nonce="x"'),
        script(f"{ORIGIN}/a.js", ' type="module"'),
        script(f"{ORIGIN}/a.js", ' crossorigin="use-credentials"'),
        script(f"{ORIGIN}/a.js", ' integrity="x"'),
        script(f"{ORIGIN}/a.js", f' integrity="{HASH}"'),
        script(f"{ORIGIN}/a.js", ' async="alert(1)"'),
        script(f"{ORIGIN}/a.js", ' data-x="a&#10;b"'),
        script(f"{ORIGIN}/a.js", f' data-x="{"x" * 501}"'),
        script("&#106;avascript:alert(1)"),
        script(f"{ORIGIN}/a.js&quot; onload=&quot;alert(1)"),
        "alert(1)",
        f"{ORIGIN}/a.js",
        '<img src="x" onerror="alert(1)">',
        "<!-- x -->",
        "</head><body>",
        f'<script/src="{ORIGIN}/a.js"></script>',
        f'<script src="{ORIGIN}/a.js"></script ><p>',
    ],
)
@pytest.mark.parametrize("place", [place for place in SCRIPT_PLACES if place != "js"])
def test_other_markup_is_refused(place: str, markup: str) -> None:
    (found,) = problems({place: markup}, ORIGINS)
    assert (found.place, found.line) == (place, 1)
    assert "alert" not in str(OwnScripts(elements({place: markup}, ORIGINS)).markup("n"))


@pytest.mark.parametrize(
    "markup",
    [
        '<meta http-equiv="refresh" content="0;url=https://evil.example">',
        '<meta http-equiv="Content-Security-Policy" content="">',
        '<meta name="referrer" content="unsafe-url">',
        '<meta name="viewport" content="user-scalable=no">',
        '<meta name="google-site-verification" content="x" http-equiv="refresh">',
        '<meta name="google-site-verification">',
        f'<link rel="stylesheet" href="{ORIGIN}/a.css">',
        f'<link rel="preload" href="{ORIGIN}" as="script">',
        f'<link rel="preconnect" href="{ORIGIN}/a.js">',
        '<link rel="preconnect" href="http://analytics.example">',
        f'<link rel="preconnect stylesheet" href="{ORIGIN}">',
        f'<link rel="preconnect" href="{ORIGIN}" onload="x">',
        '<base href="https://evil.example/">',
        "<title>Bank</title>",
        "<style>*{}</style>",
    ],
)
def test_other_head_tag_is_refused(markup: str) -> None:
    assert len([*problems({"head_tags": markup}, ORIGINS)]) == 1
    assert elements({"head_tags": markup}, ORIGINS) == ()


@pytest.mark.parametrize(
    "markup", ['<meta name="msvalidate.01" content="x">', f'<link rel="dns-prefetch" href="{ORIGIN}">']
)
def test_tags_of_the_head_are_refused_elsewhere(markup: str) -> None:
    assert [*problems({"before_script": markup})]
    assert not [*problems({"head_tags": markup})]


def test_preconnect_needs_an_allowed_origin() -> None:
    other = '<link rel="preconnect" href="https://evil.example">'
    assert "found https://evil.example" in next(problems({"head_tags": other}, ORIGINS)).expected
    assert elements({"head_tags": other}, ORIGINS) == ()


def test_without_permission_the_sentence_names_the_setting() -> None:
    (found,) = problems({"js": f"{ORIGIN}/a.js"}, ())
    assert "settings.theme_scripts.origins" in found.expected


def test_elements_are_bounded() -> None:
    many = "\n".join(f"{ORIGIN}/{number}.js" for number in range(MAX_ELEMENTS + 1))
    (found,) = problems({"js": many}, ORIGINS)
    assert "at most 20" in found.expected
    assert len(elements({"js": many}, ORIGINS)) == MAX_ELEMENTS


def test_problem_has_its_line_and_is_one_of_the_theme() -> None:
    brand = Brand(scripts={"end_script": f"{script(f'{ORIGIN}/a.js')}\n\n{script('http://a.example/b.js')}"})
    (found,) = theme_problems.problems(brand)
    assert (found.path, found.line) == (("scripts", "end_script"), 3)
    assert origins_of(brand.scripts) == [ORIGIN]


@pytest.mark.parametrize(
    "origin",
    ["http://a.example", "https://*.example", "https://a.example/", "https://a.example:443", "https://A.example", "*", "'self'",
     "https://u@a.example", "https://a.example;", "https:", "", "null", "data:"],
)  # fmt: skip
def test_setting_takes_https_origins_alone(origin: str) -> None:
    with pytest.raises(ValidationError):
        ThemeScripts(origins=(origin,))


def test_setting_is_bounded_and_other_places_are_refused() -> None:
    assert ThemeScripts(origins=ORIGINS).origins == ORIGINS
    with pytest.raises(ValidationError):
        ThemeScripts(origins=tuple(f"https://a{number}.example" for number in range(11)))
    with pytest.raises(ValidationError):
        Brand(scripts={"body": "x"})
