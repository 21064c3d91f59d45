"""Static files of a theme: their names and addresses, and content that is what the name says."""

from __future__ import annotations

import pytest
from PIL import Image

from app.identity.directory.tenants.theme_file_content import problem
from app.kit.design import theme_file_names
from app.kit.design.theme_files import svg, woff2
from app.kit.images.image_converter import ImageConverter
from tests.support import theme_files
from tests.support.images import animation, image_file, noise, with_archive, with_text

CONVERTER = ImageConverter()
PICTURES = {"img/a.png": "PNG", "img/a.jpg": "JPEG", "img/a.webp": "WEBP", "img/a.avif": "AVIF", "img/a.ico": "ICO"}


@pytest.mark.parametrize("name", ["img/logo.svg", "img/Hills_2-b.1.jpg", "fonts/inter.woff2", *PICTURES])
def test_names_of_files(name: str) -> None:
    assert theme_file_names.is_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "logo.svg", "img/../logo.svg", "img/a/logo.svg", "img/.logo.svg", "img/logo.SVG", "img/lögo.svg", "img/logo.svg\n", "img/x.woff2",
        "fonts/x.svg", "css/x.svg", "img/logo.html", "img/logo svg.svg", f"img/{'a' * 81}.svg", "/img/logo.svg", "img/.svg",
    ],
)  # fmt: skip
def test_other_names_are_none(name: str) -> None:
    assert not theme_file_names.is_name(name)


def test_address_has_the_digest_of_the_content() -> None:
    files = {"img/logo.svg": theme_file_names.digest_of(b"logo")}
    address = theme_file_names.address("img/logo.svg", files)
    assert address == f"/theme/img/logo.{files['img/logo.svg']}.svg"
    assert theme_file_names.digest_at(address) == files["img/logo.svg"]
    assert theme_file_names.digest_at("/theme/img/logo.svg") == theme_file_names.digest_at(address + "x") == ""
    assert theme_file_names.address("/theme/logo.svg", files) == "/theme/logo.svg"


def test_templates_get_addresses_in_place_of_names() -> None:
    files = {"img/a.svg": "0" * 32}
    source = '<p>img/a.svg</p>\n<img src="img/a.svg" alt=""><img src="img/b.svg" alt="">'
    after = theme_file_names.in_template(source, files)
    assert after == source.replace('src="img/a.svg"', f'src="/theme/img/a.{"0" * 32}.svg"')
    assert list(theme_file_names.references_of(source)) == [(2, "img/a.svg"), (2, "img/b.svg")]


def test_names_are_found_in_any_template() -> None:
    hostile = f'<p> src="{" " * 16_000}<b></b></p><img src=" img/a.svg ">'
    assert [*theme_file_names.references_of(hostile)] == [(1, "img/a.svg")]


def test_bounds_of_a_theme() -> None:
    assert theme_file_names.total_problem(dict.fromkeys(map(str, range(100)), 1)) is None
    assert (
        theme_file_names.total_problem(dict.fromkeys(map(str, range(101)), 1))
        == "expected at most 100 files in a theme; found more"
    )
    assert "at most 4 MB for all files" in (theme_file_names.total_problem({"a": 5_000_000}) or "")
    assert list(theme_file_names.twins(["img/b.svg", "img/B.svg", "img/c.svg"])) == [("img/b.svg", "img/B.svg")]


@pytest.mark.parametrize(("name", "kind"), PICTURES.items())
def test_pictures_have_the_format_of_their_name(name: str, kind: str) -> None:
    assert problem(name, image_file(kind=kind), CONVERTER) is None
    other = image_file(kind="PNG" if kind != "PNG" else "JPEG")
    assert problem(name, other, CONVERTER) == "expected a picture of the kind that its name says"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("img/a.png", b"", "found an empty one"),
        ("img/a.png", image_file()[:-40], "found a damaged one"),
        ("img/a.png", with_archive(image_file()), "an archive in it"),
        ("img/a.png", with_text("<script>alert(1)</script>"), "found a page"),
        ("img/a.webp", animation("WEBP"), "found an animation"),
        ("img/a.png", image_file(Image.new("1", (10_001, 1_000))), "at most 10 million pixels"),
        ("img/a.png", image_file(Image.new("1", (40_000, 40_000))), "at most 10 million pixels"),
        ("img/a.png", image_file(noise(600, 500)), "at most 700 kB; found"),
        ("img/a.jpg", b"\xff\xd8\xff<html>", "found a page"),
        ("img/a.ico", b"\x00\x00\x01\x00", "found a damaged one"),
    ],
)
def test_pictures_that_are_refused(name: str, content: bytes, expected: str) -> None:
    assert expected in (problem(name, content, CONVERTER) or "accepted")


def test_drawings_of_design_programs_are_accepted() -> None:
    inkscape = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:sodipodi="http://sodipodi.sourceforge.net/DTD/sodipodi-0.dtd"'
        ' sodipodi:docname="a.svg"><sodipodi:namedview pagecolor="#fff"/><style>.a{fill:url(#g)}/* url(x) */</style>'
        '<defs><linearGradient id="g"><stop offset="0"/></linearGradient><symbol id="s"><path d="M0 0"/></symbol></defs>'
        '<use href="#s"/><image href="data:image/png;base64,AAAA"/><text xml:space="preserve">a &amp; b</text></svg>'
    )
    assert svg.problem(f'<?xml version="1.0" encoding="UTF-8"?>{inkscape}'.encode()) is None


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ('<style>g{quotes:"/*";background:url(https://evil.example/a.png);content:"*/"}</style>', "styles that load nothing"),
        (f"<style>{'/*a' * 100_000}url(//evil.example)</style>", "64 kB of styles with comments"),
        (f"<style>{'/*a*/' * 10_000}g{{background:url(//evil.example)}}</style>", "styles that load nothing"),
        ("<SCRIPT/>", "<SCRIPT>"),
        ("<foreignObject/>", "<foreignObject>"),
        ("<a href='https://evil.example'/>", "<a>"),
        ("<animate attributeName='href'/>", "<animate>"),
        ("<set/>", "<set>"),
        ("<x xmlns='http://www.w3.org/1999/xhtml'/>", "of another kind"),
        ("<path onclick='alert(1)'/>", "no onclick"),
        ("<path xml:base='https://evil.example/'/>", "no attribute base"),
        ("<use href='https://evil.example/a.svg#b'/>", "found another address"),
        ("<use xlink:href='data:image/svg+xml,a#b'/>", "found another address"),
        ("<image href='//evil.example/a.png'/>", "found another address"),
        ("<image href='data:image/svg+xml;base64,AAAA'/>", "found another address"),
        ("<path fill='url(https://evil.example/a#b)'/>", "load nothing"),
        ("<path style='fill:u\\72l(x)'/>", "load nothing"),
        ("<style>@import 'https://evil.example'</style>", "load nothing"),
        ("<style>p{background:ur/**/l(x) image-set('x' 1x)}</style>", "load nothing"),
        ("<style>p{b:url( \"https://evil.example\")}</style>", "load nothing"),
        ("<?xml-stylesheet href='https://evil.example'?>", "no <?xml-stylesheet?>"),
        ("<path class='javascript:alert(1)'/>", "no address in class"),
        ("<g>" * 101 + "</g>" * 101, "within each other"),
        ("<g/>" * 20_000, "at most 20000 elements"),
        ("<g id='a'><use href='#b'/></g><g id='b'><use href='#a'/></g>", "one within another"),
        ("<path", "cannot be read (line 1)"),
        ("\n\n<b/>", "found <b> (line 3)"),
    ],
)  # fmt: skip
def test_drawings_that_do_more_are_refused(inner: str, expected: str) -> None:
    assert expected in (svg.problem(theme_files.svg(inner)) or "accepted")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'<!DOCTYPE svg [<!ENTITY a "b">]><svg xmlns="http://www.w3.org/2000/svg">&a;</svg>', "no <!DOCTYPE>"),
        (b'<!DOCTYPE svg SYSTEM "file:///etc/passwd"><svg/>', "no <!DOCTYPE>"),
        (theme_files.LOGO.decode().encode("utf-16"), "UTF-8"),
        (b"<svg/>", "expected <svg xmlns="),
        (b"<html><script/></html>", "found <html>"),
        (b"GIF89a", "cannot be read"),
        (theme_files.LOGO + b"<script/>", "cannot be read"),
        (b'<?xml version="1.0" encoding="UTF-7"?>' + theme_files.LOGO + b"+ADw-script+AD4-", "cannot be read"),
    ],
)
def test_documents_that_are_refused(content: bytes, expected: str) -> None:
    assert expected in (svg.problem(content) or "accepted")


def test_fonts_are_woff2() -> None:
    assert woff2.problem(theme_files.FONT) is None
    for other, expected in (
        (b"wOFF" + theme_files.FONT[4:], "a woff2 font"),
        (theme_files.FONT[:-4], "complete"),
        (theme_files.font(after=b"<script>"), "nothing after it"),
        (theme_files.FONT + b"\x00\x00\x00\x00", "nothing after it"),
        (theme_files.font(private=60), "private block"),
        (theme_files.font(unpacked=1_000_000_000), "16 MB after decompression"),
        (b"wOF2", "a woff2 font"),
        (b"wOF2" + b"\xff" * 44, "one face"),
    ):
        assert expected in (woff2.problem(other) or "accepted")
