"""A tenant's server keeps themes and activates one; pages follow at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.visitors.visitor import NewVisitorAt

THEMES = "/v2/manage/hosted-pages/themes"
AUTUMN: dict[str, Any] = {
    "Name": "Autumn",
    "Brand": {"DisplayName": "Acme Autumn", "Color": "#8a3b12", "ButtonShape": "pill"},
}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_world: NewWorld, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(
        "app.hub.tenants.tenant_cache.MAX_AGE_SECONDS", -1
    )  # as if five seconds had passed before each page
    return new_world()


@pytest.fixture
def server(tenant: World, identity_app: Flask) -> TenantServer:
    return TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")


@pytest.fixture
def send(server: TenantServer) -> Ask:
    token = machine(server, *(f"template:{action}" for action in ("read", "create", "update", "delete")))
    return lambda method, path="", body=None: ask(server, token, method, f"{THEMES}{path}", body)


@pytest.mark.both_databases
def test_active_theme_and_its_changes_are_on_the_pages(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    theme = answered(send("POST", body=AUTUMN))
    assert (theme["IsActive"], theme["Brand"]["Scene"]) == (False, None)
    assert "Acme Autumn" not in new_visitor_at(tenant).open("/login").text
    assert answered(send("PUT", f"/{theme['Id']}/activate")) == {"IsActive": True}
    assert answered(send("GET", f"/{theme['Id']}"))["IsActive"] is True
    page = new_visitor_at(tenant).open("/login")
    assert "Acme Autumn" in page.text
    assert "#8a3b12" in page.html
    winter = {"Name": "Winter", "Brand": {**AUTUMN["Brand"], "DisplayName": "Acme Winter"}}
    changed = answered(send("PUT", f"/{theme['Id']}", winter))
    assert (changed["Name"], changed["IsActive"]) == ("Winter", True)
    assert "Acme Winter" in new_visitor_at(tenant).open("/login").text
    assert answered(send("DELETE", f"/{theme['Id']}")) == {"IsDeleted": True}
    assert "Acme Winter" in new_visitor_at(tenant).open("/login").text


def test_texts_of_a_theme_are_on_the_pages(send: Ask, tenant: World, new_visitor_at: NewVisitorAt) -> None:
    texts = {"en": {"forgot_password": "Lost it?"}}
    theme = answered(send("POST", body={"Name": "Words", "Brand": {"Texts": texts}}))
    assert theme["Brand"]["Texts"] == texts
    answered(send("PUT", f"/{theme['Id']}/activate"))
    assert "Lost it?" in new_visitor_at(tenant).open("/login").text


def test_one_theme_is_active(send: Ask) -> None:
    first, second = (
        answered(send("POST", body={**AUTUMN, "Name": name, "Brand": {"DisplayName": name}})) for name in "ab"
    )
    for theme in (first, second):
        answered(send("PUT", f"/{theme['Id']}/activate"))
    assert [(item["Name"], item["IsActive"]) for item in answered(send("GET"))["Data"]] == [("a", False), ("b", True)]


@pytest.mark.parametrize(
    ("brand", "named"),
    [
        ({"Color": "red"}, "Brand.Color"),
        ({"Background": "#000000"}, "Brand.Background"),
        ({"Scene": "picture"}, "Brand.Picture"),
        ({"Logo": "javascript:alert(1)"}, "Brand.Logo"),
        ({"Logo": "http://acme.example/logo.png"}, "Brand.Logo"),
        ({"FontFile": "https://acme.example/font.ttf"}, "Brand.FontFile"),
        ({"Font": "Inter; } body { display: none"}, "Brand.Font"),
        ({"Links": {"privacy": "javascript:alert(1)"}}, "Brand.Links"),
        ({"RadiusPx": 99}, "Brand.RadiusPx"),
        (
            {"Texts": {"en": {"continu": "Go"}}},
            "Brand.Texts.en.continu: expected a key of a text; did you mean continue?",
        ),
        ({"Texts": {"en": {"continue": 5}}}, "Brand.Texts.en.continue"),
        ({"Texts": {"en": {"continue": {"on": "Go"}}}}, "Brand.Texts.en.continue"),
        ({"Texts": {"xx": {"continue": "Go"}}}, "Brand.Texts.xx"),
        ({"Texts": {"en": {f"k{number}": "x" * 500 for number in range(140)}}}, "Brand.Texts"),
    ],
)
def test_brand_that_breaks_pages_is_refused(send: Ask, brand: dict[str, Any], named: str) -> None:
    answer = send("POST", body={"Name": "Broken", "Brand": brand})
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
    assert answered(send("GET"))["Data"] == []


def test_unknown_theme_is_not_activated(send: Ask) -> None:
    assert refused(send("PUT", "/unknown/activate")) == (404, 8191)
