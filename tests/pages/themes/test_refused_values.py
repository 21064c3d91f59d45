"""A stored look with values that this release refuses is listed with its problem, published by nothing, and shown without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update

from app.contract.tenants.branding import Brand, stored_brand
from app.identity.administration.theme_versions.version_store import theme_versions
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.resource_storage.resource_store import resources
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import answered, refused
from tests.support.visitors.visitor import Visitor
from tests.support.workflows.running import server_of

SPLIT = "layouts/split.html"
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "unknown member": ({"glow": "1px"}, "glow"),
    "word of another release": ({"scene": "fog"}, "Brand.Scene"),
    "malformed color": ({"color": "green"}, "Brand.Color"),
    "dark ground": ({"background": "#101010"}, "Brand.Background"),
    "newer contract": ({"contract": 99}, "Brand.Contract"),
    "unknown link": ({"links": {"shop": "https://shop.example"}}, "Brand.Links"),
    "unknown plural form": ({"texts": {"en": {"continue": {"lots": "Go"}}}}, "Brand.Texts"),
    "unknown template": ({"templates": {"pages/gone.html": "<p>x</p>"}}, "Brand.Templates"),
    "picture without its scene": ({"picture": "/theme/hills.jpg"}, "Brand.Scene"),
    "layout without its content": ({"templates": {SPLIT: "<p>mine</p>"}}, "Brand.Templates.layouts/split.html"),
    "style sheet": ({"css": ".main { display: none }"}, "Brand.Css"),
}
Spoil = Callable[[dict[str, Any]], None]


@pytest.fixture
def themes(world: World) -> Themes:
    return Themes(server_of(world))


@pytest.fixture
def spoil(world: World) -> Spoil:
    """Add members to every stored look of the tenant, as an older release would have stored them."""

    def add(members: dict[str, Any]) -> None:
        with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
            mine = tenants.c.tenant_id == world.tenant_id
            brand = work.run(select(tenants.c.brand).where(mine)).scalar_one()
            work.run(update(tenants).where(mine).values(brand={**brand, **members}, version=tenants.c.version + 1))
            for row in work.all(
                select(resources).where(resources.c.tenant_id == world.tenant_id, resources.c.kind == "themes")
            ):
                content = {**row.content, "brand": {**row.content.get("brand", {}), **members}}
                work.run(
                    update(resources)
                    .where(resources.c.tenant_id == world.tenant_id, resources.c.id == row.id)
                    .values(content=content)
                )
            for row in work.all(select(theme_versions).where(theme_versions.c.tenant_id == world.tenant_id)):
                at = (
                    theme_versions.c.tenant_id == world.tenant_id,
                    theme_versions.c.theme_id == row.theme_id,
                    theme_versions.c.version == row.version,
                )
                work.run(update(theme_versions).where(*at).values(brand={**row.brand, **members}))
        world.services.directory.clear_cache()

    return add


@pytest.mark.parametrize(("members", "named"), REFUSED.values(), ids=REFUSED)
def test_refused_look_is_listed_and_published_by_nothing(
    themes: Themes, spoil: Spoil, members: dict[str, Any], named: str
) -> None:
    theme, other = themes.stored("Autumn"), themes.stored("Spring", is_active=False)
    themes.drafted(theme, "Winter")
    answered(themes.publish(theme, 2))
    spoil(members)
    listed = themes.listed(theme)
    assert [named in (item["Problem"] or "") for item in listed] == [True, False]
    assert named in answered(themes.send("GET", f"/{theme}/versions/1"))["Problem"]
    assert len(answered(themes.send("GET"))["Data"]) == 2
    for answer in (
        themes.publish(theme, 1),
        themes.publish(theme, 2),
        themes.publish(theme, 1, PublishAt=themes.later(days=1).isoformat()),
        themes.send("PUT", f"/{theme}/roll-back", {}),
        themes.send("PUT", f"/{other}/activate"),
    ):
        assert refused(answer) == (400, 7900)
        assert named in answer.get_json()["Description"]
    assert (themes.shown(), themes.published(theme)) == ("Winter", 2)


@pytest.mark.parametrize("theme", ["stored", "brand"])
def test_look_without_the_refused_values_replaces_it(themes: Themes, spoil: Spoil, theme: str) -> None:
    if theme == "stored":
        theme = themes.stored("Autumn")
    spoil({"scene": "fog"})
    number = themes.drafted(theme, "Autumn")
    assert number == 2
    answered(themes.publish(theme, number))
    assert [item["Problem"] for item in themes.listed(theme)] == [None, None]
    assert themes.shown() == "Autumn"


@pytest.mark.parametrize("members", [members for members, _ in REFUSED.values()], ids=REFUSED)
def test_pages_show_the_rest_of_a_refused_look(
    world: World, visitor: Visitor, themes: Themes, spoil: Spoil, members: dict[str, Any]
) -> None:
    world.change_brand(display_name="Acme", radius_px=3)
    answered(themes.send("POST", body={"Name": "Hazel", "BrandKey": "hazel", "Brand": {"DisplayName": "Hazel"}}))
    spoil(members)
    for address, name in (("/login", "Acme"), ("/login?brand=hazel", "Hazel"), ("/no-such-page", "Hazel")):
        page = visitor.open(address)
        assert page.answer is not None
        assert page.answer.status_code == (404 if "no-such" in address else 200)
        assert (name in page.title, "--radius:3px" in page.html, "mine" in page.html) == (True, True, False)


def test_only_refused_values_are_left_out() -> None:
    texts = {"en": {"continue": {"lots": "Go"}, "own.a": "A"}, "de": {"own.a": "B"}}
    brand = stored_brand(
        {
            "color": "#123456",
            "texts": texts,
            "glow": 1,
            "signature": None,
            "links": {"help": "nowhere", "terms": "https://a.example"},
        }
    )
    assert brand == Brand(
        color="#123456", texts={"en": {"own.a": "A"}, "de": {"own.a": "B"}}, links={"terms": "https://a.example"}
    )


def test_picture_goes_with_its_scene() -> None:
    assert stored_brand({"picture": "/a.jpg", "radius_px": 3}) == Brand(radius_px=3)
    assert stored_brand({"picture": "http://a.example/a.jpg", "scene": "picture", "radius_px": 3}) == Brand(radius_px=3)
