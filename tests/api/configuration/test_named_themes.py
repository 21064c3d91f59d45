"""Configuration files name themes for applications and organizations."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.tenants.configuration_files import applied
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

SHOP = {"name": "shop", "client_id": "shop", "redirect_uris": ["https://a.example/cb"]}
SPRING = {"name": "Spring", "brand_key": "spring", "brand": {"scene": "dusk"}}


def apply(tenant: TenantServer, **keys: Any) -> None:
    applied(tenant.services, yaml.safe_dump({"tenants": [{"name": tenant.name, **keys}]}))
    tenant.services.directory.clear_cache()


@pytest.mark.both_databases
def test_file_names_a_theme_that_it_adds(acme: TenantServer) -> None:
    token = machine(acme, "all")
    named = {
        "themes": [SPRING],
        "applications": [{**SHOP, "theme_name": "Spring"}],
        "organizations": [{"name": "globex", "theme_name": "Spring"}],
        "settings": {"organizations": {"enabled": True}},
    }
    apply(acme, **named)
    apply(acme, **named)
    (theme,) = answered(ask(acme, token, "GET", "/v2/manage/hosted-pages/themes"))["Data"]
    assert (theme["BrandKey"], theme["Brand"]["Scene"], theme["Brand"]["Color"]) == ("spring", "dusk", None)
    client = answered(ask(acme, token, "GET", "/v2/manage/oauth-clients/shop"))
    assert client["ThemeName"] == "Spring"
    (business,) = answered(ask(acme, token, "GET", "/v2/manage/organizations"))["Data"]
    assert business["Display"]["ThemeName"] == "Spring"


def test_placeholders_by_file_and_by_request_are_the_same(acme: TenantServer) -> None:
    token = machine(acme, "all")
    brand = {"texts": {"de": {"placeholder.email": "name@firma.example"}}}
    apply(acme, themes=[{"name": "By file", "brand": brand}])
    locales = {"de": {"placeholders": {"emailid": "name@firma.example"}}}
    answered(ask(acme, token, "POST", "/v2/manage/hosted-pages/themes", {"Name": "By request", "Locales": locales}))
    one, other = answered(ask(acme, token, "GET", "/v2/manage/hosted-pages/themes"))["Data"]
    assert one["Brand"]["Texts"] == other["Brand"]["Texts"] == brand["texts"]
    themes = [
        answered(ask(acme, token, "GET", f"/v2/manage/hosted-pages/themes/{each['Id']}")) for each in (one, other)
    ]
    for theme in themes:
        assert theme["Locales"]["de"]["placeholders"] == {"emailid": "name@firma.example"}


@pytest.mark.parametrize(
    ("key", "item"),
    [("applications", SHOP), ("organizations", {"name": "globex"})],
    ids=["application", "organization"],
)
def test_file_that_names_no_theme_is_refused(acme: TenantServer, key: str, item: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="expected the name of a theme, or an empty one; found 'Nowhere'"):
        apply(acme, themes=[SPRING], **{key: [{**item, "theme_name": "Nowhere"}]})


def test_unknown_theme_of_an_application_is_refused(acme: TenantServer) -> None:
    apply(acme, themes=[SPRING], applications=[SHOP])
    body = {"AppName": "shop", "RedirectUris": ["https://a.example/cb"], "ThemeName": "Nowhere"}
    answer = ask(acme, machine(acme, "all"), "PUT", "/v2/manage/oauth-clients/shop", body)
    assert answer.status_code == 400
    assert "there is no theme Nowhere" in answer.get_json()["Description"]
