"""gatehouse theme preview: a zip file of pages and messages that need no server, and nothing for a folder with a problem."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from app.commands.theme import preview
from app.commands.theme.folder import as_tenant
from app.commands.theme.offline_page import offline_page
from app.commands.theme.preview_files import PreviewFiles
from app.contract.tenants.branding import Brand
from app.kit.text.languages import LANGUAGES
from tests.support.browsers import page_samples
from tests.support.processes.command_line import Run, refused

ADDRESS = re.compile(r'\s(?:href|src)="([^"]*)"')
HOSTILE = '</title><script>alert(1)</script>" onload="x'


@pytest.fixture
def theme(run: Run, tmp_path: Path) -> Path:
    folder = tmp_path / "hazel"
    run("theme", "new", str(folder), "--color", "#0a7d55")
    return folder


def previewed(run: Run, theme: Path, pages: str = "ForgotPage", **settings: str) -> ZipFile:
    target = theme.parent / "a.zip"
    done = run("theme", "preview", str(theme), "--to", str(target), "--pages", pages, **settings)
    assert done.exit_code == 0, done.output
    return ZipFile(target)


def documents(found: ZipFile) -> Iterator[tuple[str, str]]:
    return ((name, found.read(name).decode()) for name in found.namelist() if name.endswith(".html"))


def test_every_address_is_one_of_the_zip_or_of_another_site(run: Run, theme: Path) -> None:
    found = previewed(run, theme, "ForgotPage,ProfilePage")
    names = set(found.namelist())
    for name, html in documents(found):
        for address in ADDRESS.findall(html):
            if not re.match(r"#|[a-z.]+:", address):
                parts = [*name.split("/")[:-1], *address.split("/")]
                while ".." in parts:
                    at = parts.index("..")
                    del parts[at - 1 : at + 1]
                assert "/".join(parts) in names, (name, address)


def test_nothing_of_one_rendering_is_left(run: Run, theme: Path) -> None:
    for name, html in documents(previewed(run, theme, "EmailCodePage")):
        assert "nonce" not in html, name
        assert not re.search(r"<(script|noscript)|http-equiv=\"refresh\"", html), name
        assert not re.search(r'type="hidden"[^>]* value="[^"]', html), name
        assert "form-action 'none'" in html, name


def test_same_folder_makes_the_same_bytes(run: Run, theme: Path) -> None:
    previewed(run, theme, "EmailCodePage").close()
    first = (theme.parent / "a.zip").read_bytes()
    previewed(run, theme, "EmailCodePage").close()
    assert (theme.parent / "a.zip").read_bytes() == first


def test_each_sample_has_a_file_of_its_own() -> None:
    files = PreviewFiles(Brand(), as_tenant(Brand(), "hazel"))
    names = [files.address(*place).lower() for place in files.places([])]
    shown = [name for name in page_samples.names() if name[0] != "ThemeEditorPage"]  # no page of people who sign in
    assert len(set(names)) == len(shown) * len(LANGUAGES)
    assert all(re.fullmatch(r"pages/[a-z]+/[a-z]+/[a-z0-9-]+\.html", name) for name in names)


def test_hostile_name_stays_text(run: Run, theme: Path) -> None:
    (theme / "theme.yaml").write_text(f"display_name: '{HOSTILE}'")
    for name, html in documents(previewed(run, theme)):
        assert "<script" not in html, name
        assert not re.search(r'<[a-z]+[^>"]*"[^"]*"[^>"]* onload=', html), name


def test_files_of_the_host_are_in_the_zip(run: Run, theme: Path) -> None:
    (theme / "theme.yaml").write_text("logo: /theme/mark.png\nfont_file: /theme/own.woff2")
    (theme / "static" / "css" / "theme.css").write_text('.own-tagline { background: url("/theme/mark.png") }')
    files = theme.parent / "files" / "hazel"
    files.mkdir(parents=True)
    for name in ("mark.png", "own.woff2"):
        (files / name).write_bytes(name.encode())
    found = previewed(run, theme, theme_files=str(files.parent))
    assert found.read("theme/mark.png") == b"mark.png"
    assert found.read("theme/own.woff2") == b"own.woff2"
    page = found.read("pages/en/ForgotPage/fresh.html").decode()
    assert "url(../../../theme/own.woff2)" in page
    (sheet,) = (name for name in found.namelist() if re.fullmatch(r"theme/theme\.\w+\.css", name))
    assert "url(mark.png)" in found.read(sheet).decode()
    mail = next(html for name, html in documents(found) if name.startswith("emails/en/"))
    assert 'src="../../theme/mark.png"' in mail


def test_missing_file_of_the_host_is_a_warning(run: Run, theme: Path) -> None:
    (theme / "theme.yaml").write_text("logo: /theme/mark.png")
    done = run("theme", "preview", str(theme), "--to", str(theme.parent / "a.zip"), "--pages", "ForgotPage")
    assert done.exit_code == 0
    assert "Warning: there’s no file /theme/mark.png: put it into the tenant’s folder" in done.stderr


def test_folder_with_a_problem_writes_nothing(run: Run, theme: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = theme.parent / "a.zip"
    target.write_text("kept")
    monkeypatch.setattr(preview, "MAX_BYTES", 100_000)
    assert "--pages" in refused(run("theme", "preview", str(theme), "--to", str(target)))
    (theme / "theme.yaml").write_text("color: green")
    said = refused(run("theme", "preview", str(theme), "--to", str(target)))
    assert said == refused(run("theme", "check", str(theme)))
    assert target.read_text() == "kept"
    assert {path.name for path in theme.parent.iterdir()} >= {"a.zip", "hazel"}
    assert not [*theme.parent.glob(".a.zip*")]


def test_unknown_pages_and_other_files_are_refused(run: Run, theme: Path) -> None:
    target = str(theme.parent / "a.zip")
    assert (
        refused(run("theme", "preview", str(theme), "--to", target, "--pages", "Nope"))
        == "No page has a name with Nope."
    )
    other = str(theme.parent / "a.tar")
    assert (
        refused(run("theme", "preview", str(theme), "--to", other))
        == f"Expected a file that ends with .zip; found {other}."
    )


def test_text_that_looks_like_an_address_stays() -> None:
    html = '<meta charset="utf-8"><p>href="/theme/a.png" nonce="a"</p><a title="&gt;" href="/login">x</a>'
    made = offline_page(html, "default-src 'none'", "../", "{}.html", lambda _: "")
    assert made.endswith('<p>href="/theme/a.png" nonce="a"</p><a title="&gt;" href="#">x</a>')


def test_files_of_the_theme_are_in_the_zip(run: Run, theme: Path) -> None:
    (theme / "static" / "img").mkdir(parents=True, exist_ok=True)
    drawing = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 2 2"><path d="M0 0h2v2z"/></svg>'
    (theme / "static" / "img" / "logo.svg").write_text(drawing)
    with (theme / "theme.yaml").open("a") as tokens:
        tokens.write("logo: img/logo.svg\n")
    found = previewed(run, theme)
    (name,) = [each for each in found.namelist() if each.startswith("theme/img/logo.")]
    assert found.read(name).decode() == drawing
    assert f'src="../../../{name}"' in found.read("pages/en/ForgotPage/fresh.html").decode()
