"""A tenant's branding on its pages: scene, background, font, pictures, and what the browser may fetch for them."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.hub.tenants.branding import PageBranding
from tests.support.oauth.world import World
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

FONT = b"wOF2 and the rest of a font"

CDN = "https://cdn.example"


def shown(world: World, visitor: Visitor, **brand: object) -> VisitedPage:
    world.change_brand(**brand)
    return visitor.open("/login")


def policy(page: VisitedPage, directive: str) -> list[str]:
    """The sources of a directive, beside the hub's own."""
    assert page.answer is not None
    found = re.search(rf"(?:^|; ){directive} ([^;]*)", page.answer.headers["Content-Security-Policy"])
    return [source for source in (found[1].split() if found else []) if source != "data:"]


def test_scene_is_a_drawing_by_default(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor)
    assert '<svg class="art"' in page.html
    assert "--g6:" in page.html
    assert policy(page, "img-src") == ["'self'"]
    assert policy(page, "font-src") == []
    assert "--button-radius" not in page.html


def test_page_without_a_scene_is_the_form_alone(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, scene="none", sentence={"en": "Hello"})
    assert "<aside" not in page.html
    assert 'class="split alone"' in page.html
    assert "--g6:" not in page.html


def test_picture_is_lazy_and_the_only_one_allowed(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, scene="picture", picture=f"{CDN}/hills.jpg?w=1", sentence={"en": "Hello"})
    assert f'<img src="{CDN}/hills.jpg?w=1" alt="" loading="lazy" decoding="async">' in page.html
    assert 'class="gate"' not in page.html
    assert page.html.index("<img") < page.html.index("Hello")
    assert policy(page, "img-src") == ["'self'", f"{CDN}/hills.jpg"]


@pytest.mark.parametrize(
    ("file", "source"),
    [("/theme/inter.woff2", "'self'"), (f"{CDN}/f/inter.woff2?v=2&a=1", f"{CDN}/f/inter.woff2")],
)
def test_font_file_is_swapped_in_and_allowed_alone(world: World, visitor: Visitor, file: str, source: str) -> None:
    page = shown(world, visitor, font_file=file, font="Inter, 'Source Sans 3', sans-serif")
    css = page.html.partition("<style")[2].partition("</style>")[0]
    assert f"src:url({file.replace('&', chr(92) + '26 ')})" in css
    assert "font-display:swap" in css
    assert r"--font:Brand,Inter,Source Sans \33 ,sans-serif" in css
    assert not set("\"'&") & set(css.partition(">")[2])
    assert policy(page, "font-src") == [source]


def test_font_names_alone_fetch_nothing(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, font="Georgia, serif")
    assert "--font:Georgia,serif" in page.html
    assert "@font-face" not in page.html
    assert policy(page, "font-src") == []


def test_arabic_pages_have_the_font_before_ours(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, font="Amiri, Georgia, serif")
    assert "--font:Amiri,Georgia,serif" in page.html
    assert "[lang=ar]{--font:Amiri,Georgia,var(--ar)}" in page.html
    sheet = re.search(r'href="(/static/[^"]+\.css)"', page.html)
    assert sheet
    css = visitor.client.get(sheet[1], base_url=visitor.home).text
    assert "[lang=ar]" not in PageBranding("Without a font").tokens
    assert re.search(r"\[lang=ar\]\{--ar:[^;}]*Arabic[^;}]*;--font:var\(--ar\)", css)


def test_logo_of_dark_mode_is_a_source_of_its_picture(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, logo=f"{CDN}/a.svg", logo_dark=f"{CDN}/b.svg")
    assert (
        f'<source srcset="{CDN}/b.svg" media="(prefers-color-scheme:dark)"><img src="{CDN}/a.svg" alt="">' in page.html
    )
    assert policy(page, "img-src") == ["'self'", f"{CDN}/a.svg", f"{CDN}/b.svg"]


def test_own_favicon_is_linked_and_found_at_its_default_address(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, favicon=f"{CDN}/icon.svg")
    assert f'<link rel="icon" href="{CDN}/icon.svg">' in page.html
    answer = visitor.client.get("/favicon.ico", base_url=visitor.home)
    assert (answer.status_code, answer.headers["Location"]) == (302, f"{CDN}/icon.svg")


@pytest.mark.parametrize(("shape", "radius"), [("pill", "--button-radius:99px"), ("square", "--button-radius:0px")])
def test_button_has_the_shape_of_the_tenant(world: World, visitor: Visitor, shape: str, radius: str) -> None:
    assert radius in shown(world, visitor, button_shape=shape).html


def test_background_is_the_ground_in_each_mode(world: World, visitor: Visitor) -> None:
    page = shown(world, visitor, background="#faf6ee", background_dark="#17130f")
    light, _, dark = page.html.partition("@media(prefers-color-scheme:dark)")
    assert "--canvas:#faf6ee" in light
    assert "--canvas:#17130f" in dark


@pytest.mark.parametrize(("scheme", "canvas", "logo"), [("light", "#faf6ee", "a"), ("dark", "#17130f", "b")])
def test_scheme_is_that_of_every_device(world: World, visitor: Visitor, scheme: str, canvas: str, logo: str) -> None:
    page = shown(
        world, visitor, color_scheme=scheme, background="#faf6ee", background_dark="#17130f", logo=f"{CDN}/a.svg",
        logo_dark=f"{CDN}/b.svg",
    )  # fmt: skip
    assert f'<meta name="color-scheme" content="{scheme}">' in page.html
    assert f"--canvas:{canvas}" in page.html
    assert f'<img src="{CDN}/{logo}.svg" alt="">' in page.html
    assert "prefers-color-scheme" not in page.html
    sheet = re.search(r'href="(/static/[^"]+\.css)"', page.html)
    assert sheet
    css = visitor.client.get(sheet[1], base_url=visitor.home)
    assert "immutable" in css.headers["Cache-Control"]
    assert "prefers-color-scheme" not in css.text
    assert f"color-scheme:{scheme}" in css.text


def test_own_color_is_in_its_mode(world: World, visitor: Visitor) -> None:
    page = shown(
        world, visitor, colors={"light": {"raised": "#fffdf8"}, "dark": {"raised": "#14201a", "danger": "#ffb3ad"}}
    )
    light, _, dark = page.html.partition("@media(prefers-color-scheme:dark)")
    assert "--raised:#fffdf8" in light
    assert "--raised:#14201a" in dark
    assert "--danger:#ffb3ad" in dark


def test_application_is_shown_by_its_logo_and_links(world: World, visitor: Visitor) -> None:
    links = {"policy_uri": "https://shop.example/privacy", "tos_uri": "https://shop.example/terms"}
    shop = world.application("shop", require_consent=True, logo_uri=f"{CDN}/shop.png", **links)
    ada = world.person("ada@example.com")
    sign_in = visitor.authorize(shop)
    assert policy(sign_in, "img-src") == ["'self'", f"{CDN}/shop.png"]
    consent = sign_in.press("Sign in", identifier=ada.email, password=ada.password)
    assert f'<img class="tile tile--large" src="{CDN}/shop.png"' in consent.html
    assert "shop’s privacy notice and terms apply." in consent.text.replace(" ’s", "’s")
    assert all(f'href="{address}"' in consent.html for address in links.values())


def test_sign_in_shows_the_application_and_its_links(world: World, visitor: Visitor) -> None:
    links = {"policy_uri": "https://shop.example/privacy", "tos_uri": "https://shop.example/terms"}
    page = visitor.authorize(world.application("shop", logo_uri=f"{CDN}/shop.png", **links))
    assert f'<img class="tile" src="{CDN}/shop.png" alt="shop"' in page.html
    assert all(f'href="{address}" target="_blank" rel="noopener"' in page.html for address in links.values())
    assert "shop.example" not in visitor.open("/forgot-password").html, "only where an account is used or made"


def test_long_and_embedded_logos_stay_out_of_the_cookie(world: World, visitor: Visitor) -> None:
    """Five cookies share one header of 8 kB; the consent page, which is asked for each time, still shows them."""
    logo = f"{CDN}/{'x' * 400}.png"
    shop, ada = world.application("shop", require_consent=True, logo_uri=logo), world.person("ada@example.com")
    page = visitor.authorize(shop)
    assert logo not in page.html
    assert logo in page.press("Sign in", identifier=ada.email, password=ada.password).html


def test_application_without_a_logo_has_its_initial(world: World, visitor: Visitor) -> None:
    shop, ada = world.application("shop", require_consent=True), world.person("ada@example.com")
    consent = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    assert re.search(r'<span class="tile tile--large tile--\w+" aria-hidden="true">S</span>', consent.html)
    assert policy(consent, "img-src") == ["'self'"]


def test_two_applications_never_share_a_cached_page(world: World, new_visitor: NewVisitor) -> None:
    """The sign-in page is rendered once for each application, even where two bear one name."""
    item, two = (
        world.application(name, client_name="Shop", policy_uri=f"{CDN}/{name}", logo_uri=f"{CDN}/{name}.png")
        for name in ("one", "two")
    )
    for shop, name in ((item, "one"), (two, "two"), (item, "one")):
        assert policy(new_visitor().authorize(shop), "img-src") == ["'self'", f"{CDN}/{name}.png"]


@pytest.fixture
def theme_files(tmp_path: Path, world: World, hub_app: Flask, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tenant's folder of files, beside a secret and another tenant's."""
    root = tmp_path / "themes"
    own, other = root / world.name, root / "other"
    own.mkdir(parents=True)
    other.mkdir()
    (own / "inter.woff2").write_bytes(FONT)
    (own / "mark.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>")
    (own / "notes.txt").write_text("secret")
    (other / "theirs.png").write_bytes(b"theirs")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (own / "out.png").symlink_to(tmp_path / "secret.png")
    (own / "folder.png").mkdir()
    shared = hub_app.extensions["gatehouse"]
    settings = replace(shared.settings, theme_files=str(root))
    monkeypatch.setitem(hub_app.extensions, "gatehouse", replace(shared, settings=settings))
    return own


@pytest.mark.usefixtures("theme_files")
def test_font_is_served_by_the_host_of_the_tenant(visitor: Visitor) -> None:
    answer = visitor.client.get("/theme/inter.woff2", base_url=visitor.home)
    assert (answer.status_code, answer.data, answer.content_type) == (200, FONT, "font/woff2")
    assert "max-age=86400" in answer.headers["Cache-Control"]
    again = visitor.client.get(
        "/theme/inter.woff2", base_url=visitor.home, headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304


@pytest.mark.usefixtures("theme_files")
def test_manifest_lists_the_files_of_the_tenant(visitor: Visitor) -> None:
    answer = visitor.client.get("/idx/manifest", base_url=visitor.home)
    assert answer.status_code == 200
    assets = {item["Name"]: item for item in answer.get_json()["Assets"]}
    assert sorted(assets) == ["inter.woff2", "mark.svg"], "nothing else of the folder, nothing outside it"
    assert assets["inter.woff2"] == {"Name": "inter.woff2", "Path": "/theme/inter.woff2", "Type": "font/woff2"}
    assert visitor.client.get("/idx/asset/inter.woff2", base_url=visitor.home).data == FONT
    assert visitor.client.get("/idx/asset/notes.txt", base_url=visitor.home).status_code == 404


def test_manifest_of_a_tenant_without_files_has_its_name(world: World, visitor: Visitor) -> None:
    world.change_brand(display_name="Acme", color="#8a3b12")
    found = visitor.client.get("/idx/manifest", base_url=visitor.home).get_json()
    assert found == {"Name": "Acme", "Color": "#8a3b12", "Assets": []}


@pytest.mark.usefixtures("theme_files")
def test_picture_with_a_script_runs_nothing(visitor: Visitor) -> None:
    answer = visitor.client.get("/theme/mark.svg", base_url=visitor.home)
    assert (answer.status_code, answer.content_type) == (200, "image/svg+xml; charset=utf-8")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Content-Security-Policy"].endswith("sandbox")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.usefixtures("theme_files")
@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "missing.png",
        "out.png",
        "folder.png",
        "..%2fother%2ftheirs.png",
        "../other/theirs.png",
        "..",
        "%00.png",
        ".png",
    ],
)
def test_nothing_else_leaves_the_folder(visitor: Visitor, name: str) -> None:
    answer = visitor.client.get(f"/theme/{name}", base_url=visitor.home)
    assert answer.status_code == 404
    assert b"secret" not in answer.data


def test_without_a_folder_there_are_no_files(visitor: Visitor) -> None:
    assert visitor.client.get("/theme/inter.woff2", base_url=visitor.home).status_code == 404
