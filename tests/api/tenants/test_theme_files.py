"""Management programs add, read and remove pictures and fonts of a theme."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.identity.administration.theme_versions import version_store
from app.identity.administration.theme_versions.version_store import StoredThemeVersion
from app.identity.directory.tenants import theme_files
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.design.theme_file_names import MAX_FILE_BYTES, digest_of
from tests.support.images import image_file, noise
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered
from tests.support.theme_files import FONT, HILLS, LOGO, address, store, svg

THEMES = "/v2/manage/hosted-pages/themes"


class Themes:
    def __init__(self, tenant: TenantServer) -> None:
        self.tenant = tenant
        self.token = machine(tenant, *(f"template:{action}" for action in ("read", "create", "update", "delete")))
        self.id = answered(self.send("POST", "", {"Name": "Autumn"}))["Id"]

    def send(self, method: str, path: str, body: Any = None) -> TestResponse:
        return ask(self.tenant, self.token, method, f"{THEMES}{path}", body)

    def put(self, name: str, content: bytes) -> TestResponse:
        return self.send("PUT", f"/{self.id}/files/{name}", {"Content": b64encode(content).decode()})

    def brand(self) -> dict[str, Any]:
        brand: dict[str, Any] = answered(self.send("GET", f"/{self.id}"))["Brand"]
        return brand


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


@pytest.mark.both_databases
def test_file_is_added_read_and_removed(themes: Themes) -> None:
    put = answered(themes.put("img/logo.svg", LOGO))
    assert put == {
        "Name": "img/logo.svg", "Digest": digest_of(LOGO), "MediaType": "image/svg+xml", "SizeBytes": len(LOGO),
        "Path": address("img/logo.svg", LOGO),
    }  # fmt: skip
    assert answered(themes.send("GET", f"/{themes.id}/files")) == {"Data": [put]}
    assert b64decode(answered(themes.send("GET", f"/{themes.id}/files/img/logo.svg"))["Content"]) == LOGO
    assert themes.brand()["Files"] == {"img/logo.svg": digest_of(LOGO)}
    assert answered(themes.send("DELETE", f"/{themes.id}/files/img/logo.svg")) == {"IsDeleted": True}
    assert themes.send("GET", f"/{themes.id}/files/img/logo.svg").get_json()["ErrorCode"] == 8227
    assert themes.brand()["Files"] == {}


def test_file_that_the_theme_names_stays(themes: Themes) -> None:
    answered(themes.put("img/logo.svg", LOGO))
    brand = {**themes.brand(), "Logo": "img/logo.svg", "Css": ".own-a { background: url(img/logo.svg) }"}
    answered(themes.send("PUT", f"/{themes.id}", {"Name": "Autumn", "Brand": brand}))
    assert themes.send("DELETE", f"/{themes.id}/files/img/logo.svg").get_json()["ErrorCode"] == 8229
    missing = themes.send("PUT", f"/{themes.id}", {"Name": "Autumn", "Brand": {**brand, "Logo": "img/other.svg"}})
    assert "there’s no static/img/other.svg" in missing.get_json()["Description"]


def test_theme_with_the_digest_of_another_tenant_is_refused(themes: Themes, new_tenant_server: NewTenantServer) -> None:
    answered(themes.put("img/logo.svg", LOGO))
    other = Themes(new_tenant_server())
    refused = other.send(
        "PUT", f"/{other.id}", {"Name": "Autumn", "Brand": {"Files": {"img/logo.svg": digest_of(LOGO)}}}
    )
    assert "img/logo.svg" in refused.get_json()["Description"]
    assert refused.status_code == 400
    draft = other.send("PUT", f"/{other.id}/draft", {"Brand": {"Files": {"img/logo.svg": digest_of(LOGO)}}})
    assert (draft.status_code, "img/logo.svg" in draft.get_json()["Description"]) == (400, True)
    assert other.send("GET", f"/{themes.id}/files/img/logo.svg").get_json()["ErrorCode"] == 8191


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("img/logo.svg", svg("<script>alert(1)</script>"), "img/logo.svg: expected elements that draw"),
        ("img/hills.png", HILLS, "img/hills.png: expected a picture of the kind"),
        ("fonts/a.woff2", FONT + b"<script>", "nothing after it"),
        ("css/a.svg", LOGO, "expected img/NAME"),
        ("img/%2e%2e", LOGO, "expected img/NAME"),
        ("img/a.html", b"<html>", "expected img/NAME"),
        ("img/a.png", b"", "found an empty one"),
        ("img/a.png", image_file(noise(300, 300))[:200_000], "found a damaged one"),
    ],
)
def test_refused_file_is_named_and_not_stored(themes: Themes, name: str, content: bytes, expected: str) -> None:
    refused = themes.put(name, content).get_json()
    assert (refused["ErrorCode"], expected in refused["Description"]) == (8228, True), refused
    assert answered(themes.send("GET", f"/{themes.id}/files")) == {"Data": []}


def test_theme_has_at_most_four_megabytes(themes: Themes) -> None:
    for number in range(5):
        answered(themes.put(f"img/{number}.svg", svg(f"<!--{number}{'x' * 700_000}-->")))
    refused = themes.put("img/5.svg", svg(f"<!--{'y' * 700_000}-->")).get_json()
    assert (refused["ErrorCode"], "at most 4 MB" in refused["Description"]) == (8228, True)


def test_tenant_has_at_most_forty_megabytes(themes: Themes) -> None:
    services, tenant_id = themes.tenant.services, themes.tenant.tenant_id
    stored = {f"img/{number}.svg": b"%d" % number + bytes(MAX_FILE_BYTES - 2) for number in range(58)}
    assert store(services, tenant_id, stored, days_ago=1)
    named = StoredThemeVersion(9, "", services.clock.now(), "x", brand={"files": files_of(stored)})
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        version_store.add(work, "former", named)
    large = svg(f"<!--{'x' * 700_000}-->")
    refused = themes.put("img/large.svg", large).get_json()
    assert (refused["ErrorCode"], "40 MB" in refused["Description"]) == (8228, True), refused
    answered(themes.put("img/small.svg", LOGO))
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        version_store.remove_all(work, "former")
    answered(themes.put("img/large.svg", large))
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        assert not theme_files.contents(work, files_of(stored)), "files that nothing names make room at once"
        assert theme_files.contents(work, files_of({"a": large, "b": LOGO})).keys() == {"a", "b"}


def files_of(contents: Mapping[str, bytes]) -> dict[str, str]:
    return {name: digest_of(content) for name, content in contents.items()}
