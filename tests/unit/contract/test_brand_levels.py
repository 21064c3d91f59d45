"""How the levels of a look merge."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from app.contract.tenants.brand_levels import Level, ThemeNames, merged_brand

TENANT: dict[str, Any] = {
    "display_name": "Acme", "color": "#112233", "logo": "/theme/a.svg", "logo_dark": "/theme/b.svg", "font": "Inter",
    "font_file": "/theme/inter.woff2", "scene": "picture", "picture": "/theme/hills.jpg", "css": ".button{color:red}",
    "links": {"privacy": "https://a.example/p", "terms": "https://a.example/t"},
    "texts": {"en": {"continue": "Go", "cancel": "Stop"}}, "templates": {"layouts/split.html": "a"},
}  # fmt: skip


def over_tenant(**given: Any) -> tuple[dict[str, Any], dict[str, Level]]:
    brand = merged_brand([(Level.TENANT, deepcopy(TENANT)), (Level.APPLICATION, given)])
    return brand.values, brand.sources


def test_narrower_level_wins_member_by_member() -> None:
    values, sources = over_tenant(color="#445566", css=".card{color:red}")
    assert values == {**TENANT, "color": "#445566", "css": ".card{color:red}"}
    assert {name for name, level in sources.items() if level is Level.APPLICATION} == {"color", "css"}


def test_texts_links_and_templates_merge_by_key() -> None:
    values, sources = over_tenant(
        texts={"en": {"continue": "Next"}, "de": {"cancel": "Halt"}},
        links={"terms": "https://b.example/t"},
        templates={"layouts/console.html": "b"},
    )
    assert values["texts"] == {"en": {"continue": "Next", "cancel": "Stop"}, "de": {"cancel": "Halt"}}
    assert values["links"] == {"privacy": "https://a.example/p", "terms": "https://b.example/t"}
    assert set(values["templates"]) == {"layouts/split.html", "layouts/console.html"}
    assert sources["texts.en.continue"] is sources["texts.de.cancel"] is sources["links.terms"] is Level.APPLICATION
    assert sources["texts.en.cancel"] is sources["links.privacy"] is Level.TENANT


@pytest.mark.parametrize("empty", [{"color": None}, {"css": ""}, {"texts": {}}, {"display_name": ""}])
def test_what_is_empty_is_inherited(empty: dict[str, Any]) -> None:
    assert over_tenant(**empty)[0] == TENANT


@pytest.mark.parametrize(
    ("given", "gone"),
    [
        ({"logo": "/theme/c.svg"}, "logo_dark"),
        ({"font": "Georgia"}, "font_file"),
        ({"scene": "none"}, "picture"),
    ],
)
def test_what_belongs_to_a_replaced_value_goes_with_it(given: dict[str, Any], gone: str) -> None:
    values, sources = over_tenant(**given)
    assert gone not in values
    assert gone not in sources
    assert over_tenant(**given, **{gone: "/theme/x"})[0][gone] == "/theme/x"


def test_merging_leaves_the_levels_unchanged() -> None:
    own = deepcopy(TENANT)
    merged_brand([(Level.TENANT, own), (Level.BRAND, {"texts": {"en": {"continue": "Next"}}, "links": {"help": "x"}})])
    assert own == TENANT


def test_level_without_a_theme_is_left_out() -> None:
    names = ThemeNames(brand="Hazel", organization="Globex")
    assert list(names.levels()) == [(Level.BRAND, "Hazel"), (Level.ORGANIZATION, "Globex")]
