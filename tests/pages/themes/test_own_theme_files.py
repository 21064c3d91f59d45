"""Pictures and fonts of a theme folder, on the tenant's host under a digest of their content."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask
from sqlalchemy import select

from app.contract.themes.theme_version_operations import OWN_LOOK
from app.hub.client.known_names import MAX_MISSES, WINDOW_SECONDS
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.theme_versions import version_store
from app.identity.assembly.clean_up import expired_rows
from app.identity.directory.tenants import theme_files
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.caching.lru_cache import ByteCache, CachedFile
from app.kit.design.theme_file_names import MEDIA_TYPES, digest_of
from tests.support.oauth.world import NewWorld, World
from tests.support.theme_files import FONT, HILLS, LOGO, address, svg, write
from tests.support.visitors.visitor import NewVisitorAt, Visitor

FILES = {
    "img/logo.svg": LOGO,
    "img/hills.jpg": HILLS,
    "img/tile.svg": svg("<path d='M0 0'/>"),
    "fonts/inter.woff2": FONT,
}
THEME = (
    "logo: img/logo.svg\nfavicon: img/logo.svg\nscene: picture\npicture: img/hills.jpg\nfont_file: fonts/inter.woff2\n"
)
CSS = ".own-top { background: url(img/hills.jpg) }\n@font-face { font-family: 'X'; src: url('fonts/inter.woff2'); font-display: swap }"
LAYOUT = '<p class="own-top"><img src="img/tile.svg" alt=""></p>{{ content() }}{{ footer() }}{{ scene() }}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    theme = tmp_path / "hazel"
    write(theme, {**FILES, "css/theme.css": CSS.encode()})
    (theme / "theme.yaml").write_text(THEME)
    (theme / "templates" / "layouts").mkdir(parents=True)
    (theme / "templates" / "layouts" / "split.html").write_text(LAYOUT)
    return theme


def apply(world: World, folder: Path) -> str:
    """Apply a theme folder to the tenant; return what changes."""
    text = f"tenants:\n  - {{name: {world.name}, theme: {folder.name}}}\n".encode()
    done = apply_configuration.apply(world.services, read(text, "f.yaml", folder.parent))
    world.services.directory.clear_cache()
    return str(done)


def digests(world: World) -> set[str]:
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        return {
            row.digest
            for row in work.all(select(theme_files.F.digest).where(theme_files.F.tenant_id == world.tenant_id))
        }
    finally:
        work.rollback()


def test_page_shows_the_files_of_the_folder(world: World, visitor: Visitor, folder: Path) -> None:
    apply(world, folder)
    page = visitor.open("/login")
    for name, content in FILES.items():
        assert address(name, content) in page.html, name
        answer = visitor.client.get(address(name, content), base_url=visitor.home)
        assert (answer.status_code, answer.data) == (200, content)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers.get("Access-Control-Allow-Origin") == ("*" if name.startswith("fonts/") else None)
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Content-Security-Policy"].endswith("sandbox")
        assert answer.content_type.partition(";")[0] == MEDIA_TYPES[name.rpartition(".")[2]]
    sheet = visitor.open(re.findall(r'href="(/theme/theme[^"]+)"', page.html)[0]).answer
    assert sheet is not None
    text = sheet.get_data(as_text=True)
    assert f"url({address('img/hills.jpg', HILLS)})" in text
    assert f'url("{address("fonts/inter.woff2", FONT)}")' in text
    policy = page.answer.headers["Content-Security-Policy"] if page.answer else ""
    assert "font-src 'self'" in policy


def test_changed_file_has_a_new_address(world: World, visitor: Visitor, folder: Path, hub_app: Flask) -> None:
    apply(world, folder)
    assert address("img/tile.svg", FILES["img/tile.svg"]) in visitor.open("/login").html
    other = svg("<path d='M1 1'/>")
    write(folder, {"img/tile.svg": other})
    assert "brand" in apply(world, folder)
    hub_app.extensions["gatehouse"].tenancy.poll()
    html = visitor.open("/login").html
    assert address("img/tile.svg", other) in html
    for content in (other, FILES["img/tile.svg"]):
        answer = visitor.client.get(address("img/tile.svg", content), base_url=visitor.home)
        assert answer.data == content, "a page of the version before still shows its file"


def test_same_content_is_stored_once(world: World, folder: Path) -> None:
    write(folder, {"img/copy.svg": LOGO})
    apply(world, folder)
    apply(world, folder)
    assert digests(world) == {digest_of(content) for content in FILES.values()}


def test_file_of_another_tenant_is_not_found(
    world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt, folder: Path
) -> None:
    apply(world, folder)
    here, there = new_visitor_at(world), new_visitor_at(new_world())
    path = address("img/logo.svg", LOGO)
    assert here.client.get(path, base_url=here.home).status_code == 200
    assert there.client.get(path, base_url=there.home).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/theme/img/logo.svg", "/theme/img/logo.{0}.png", "/theme/css/logo.{0}.svg", "/theme/img/../img/logo.{0}.svg",
        "/theme/img/logo.{1}.svg", "/theme/img/%00.{0}.svg",
    ],
)  # fmt: skip
def test_other_addresses_are_not_found(world: World, visitor: Visitor, folder: Path, path: str) -> None:
    apply(world, folder)
    answer = visitor.client.get(path.format(digest_of(LOGO), "0" * 32), base_url=visitor.home)
    assert answer.status_code == 404


def test_brand_with_the_digest_of_another_tenant_is_refused(world: World, new_world: NewWorld, folder: Path) -> None:
    apply(world, folder)
    text = f"tenants:\n  - {{name: {new_world().name}, brand: {{files: {{img/logo.svg: {digest_of(LOGO)}}}}}}}\n"
    with pytest.raises(Exception, match=r"that has img/logo\.svg; no such file is stored"):
        apply_configuration.apply(world.services, read(text.encode(), "f.yaml", folder.parent))


def test_files_that_no_brand_names_are_deleted_late(world: World, folder: Path) -> None:
    apply(world, folder)
    world.change_brand(files={"img/logo.svg": digest_of(LOGO)})
    now = world.services.clock.now()
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        assert theme_files.delete_unnamed(work, now + theme_files.RETENTION) == 0, "a version can be published again"
        version_store.remove_all(work, OWN_LOOK)
        assert theme_files.delete_unnamed(work, now - theme_files.RETENTION) == 0
        assert theme_files.delete_unnamed(work, now + theme_files.RETENTION) == len(FILES) - 1
        work.commit()
    finally:
        work.rollback()
    assert digests(world) == {digest_of(LOGO)}


def test_cache_of_files_is_bounded_in_bytes() -> None:
    cache = ByteCache(10_000)
    for key in range(100):
        cache.put(key, CachedFile("image/png", bytes(3_000)))
        assert cache.size_bytes <= 10_000
    cache.put(99, CachedFile("image/png", bytes(1_000)))
    assert (cache.get(0), len((cache.get(99) or CachedFile("", b"")).content)) == (None, 1_000)
    cache.put("large", CachedFile("image/png", bytes(20_000)))
    assert (cache.get("large"), cache.size_bytes) == (None, 0)


def test_housekeeping_keeps_the_files_of_brands(world: World, folder: Path) -> None:
    apply(world, folder)
    world.change_brand(files={"img/logo.svg": digest_of(LOGO)})
    work = UnitOfWork(world.services.database, world.tenant_id)
    version_store.remove_all(work, OWN_LOOK)
    work.commit()
    late = world.services.clock.now() + theme_files.RETENTION + timedelta(hours=1)
    expired_rows.clean(world.services.database, late)
    assert digests(world) == {digest_of(LOGO)}


def test_first_request_of_a_file_makes_the_only_call(world: World, visitor: Visitor, folder: Path) -> None:
    apply(world, folder)
    visitor.open("/login")
    path = address("img/logo.svg", LOGO)
    costs = [visitor.client.get(path, base_url=visitor.home).headers["X-Gatehouse-Cost"] for _ in range(2)]
    assert [dict(part.split("=") for part in cost.split("; "))["sql"] for cost in costs] == ["1", "0"]


def named(world: World, theme: str) -> bytes:
    """Return a file with one named theme, `hazel`, which has this member beside its name."""
    return f"tenants:\n  - {{name: {world.name}, themes: [{{name: Hazel, brand_key: hazel, {theme}}}]}}\n".encode()


def test_folder_of_a_named_theme_is_its_look(world: World, visitor: Visitor, folder: Path) -> None:
    write(folder, {"img/tile.svg": FILES["img/tile.svg"]})
    apply_configuration.apply(world.services, read(named(world, "theme: hazel"), "f.yaml", folder.parent))
    world.services.directory.clear_cache()
    chosen = visitor.open("/login?brand=hazel").html
    assert 'class="own-top"' in chosen
    picture = address("img/tile.svg", FILES["img/tile.svg"])
    assert picture in chosen
    assert visitor.client.get(picture, base_url=visitor.home).data == FILES["img/tile.svg"]
    assert 'class="own-top"' not in visitor.open("/login?brand=").html


@pytest.mark.parametrize(
    ("theme", "expected"),
    [
        ("theme: absent", r"themes\[0\]\.theme: expected a folder next to this file; there's no absent"),
        ("theme: hazel, brand: {}", r"themes\[0\]\.theme: expected theme or brand, not both"),
        ("theme: 7", r"themes\[0\]\.theme: expected text"),
        ("theme: shop", r"themes\[0\]\.theme: expected no texts of applications in this folder"),
    ],
)
def test_named_theme_without_its_folder_is_refused(world: World, folder: Path, theme: str, expected: str) -> None:
    other = folder.parent / "shop" / "texts" / "app"
    other.mkdir(parents=True)
    (other / "de.yaml").write_text("continue: Los")
    (folder.parent / "shop" / "theme.yaml").write_text("color: '#0a7d55'")
    with pytest.raises(ConfigurationError) as refused:
        read(named(world, theme), "f.yaml", folder.parent)
    assert re.search(expected, str(refused.value))


def test_stream_of_unknown_files_makes_few_calls(
    world: World, visitor: Visitor, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("app.hub.client.known_names.monotonic", lambda: now[0])
    apply(world, folder)
    visitor.open("/login")

    def calls(digest: str) -> int:
        return visitor.calls_for(f"/theme/img/logo.{digest}.svg", 200 if digest == digest_of(LOGO) else 404)

    def stream() -> list[int]:
        return [calls(f"{number:032x}") for number in range(100)]

    assert stream() == [1, 1, 1, 1, 2, *[0] * 95]
    assert [calls(digest_of(LOGO)) for _ in range(2)] == [1, 0], "a stored file is shown meanwhile"
    now[0] += WINDOW_SECONDS
    assert sum(stream()) == MAX_MISSES + 1


def test_number_of_a_tenants_files_is_bounded(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apply(world, folder)
    monkeypatch.setattr(theme_files, "MAX_STORED_FILES", len(digests(world)))
    apply(world, folder)
    before = digests(world)
    (folder / "static" / "img" / "more.svg").write_bytes(svg("<path d='M1 1'/>"))
    with pytest.raises(ConfigurationError, match="2,000 files and 40 MB for all versions"):
        apply(world, folder)
    assert digests(world) == before
