"""The bound of the looks of all themes of a tenant together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import Configuration, read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.platform.resource_storage.resource_store import SharedTable
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

TOGETHER = "for the looks of all themes together"


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


LARGE: dict[str, Any] = {"Texts": {"en": {f"own.line{number}": "x" * 500 for number in range(100)}}}


@pytest.mark.both_databases
def test_themes_of_a_tenant_have_a_bound_together(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES",
        2 * len(json.dumps(LARGE["Texts"])) + 1_000,
    )
    first, second = themes.stored("One", **LARGE), themes.stored("Two", is_active=False, **LARGE)
    third = themes.stored("Three", is_active=False)
    number = answered(themes.send("PUT", f"/{third}/draft", {"Brand": {"DisplayName": "Three", **LARGE}}))["Version"]
    refusals = (
        themes.send("POST", body={"Name": "Four", "Brand": LARGE}),
        themes.send("PUT", f"/{third}", {"Name": "Three", "Brand": LARGE}),
        themes.publish(third, number),
    )
    for answer in refusals:
        assert refused(answer) == (400, 7900)
        assert TOGETHER in answer.get_json()["Description"]
    assert (themes.published(third), len(answered(themes.send("GET"))["Data"])) == (1, 3)
    answered(themes.send("PUT", f"/{first}", {"Name": "One", "Brand": LARGE}))
    answered(themes.send("DELETE", f"/{second}"))
    answered(themes.publish(third, number))


def test_looks_beyond_the_bound_can_shrink_but_not_grow(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    theme, _ = themes.stored("A" * 60), themes.stored("B" * 60)
    monkeypatch.setattr("app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES", 10)
    for length in (50, 50, 40):
        answered(themes.send("PUT", f"/{theme}", {"Name": "One", "Brand": {"DisplayName": "A" * length}}))
    answer = themes.send("PUT", f"/{theme}", {"Name": "One", "Brand": {"DisplayName": "A" * 41}})
    assert refused(answer) == (400, 7900)
    assert TOGETHER in answer.get_json()["Description"]


def test_looks_are_measured_in_bytes_of_utf_8(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES", 130)
    theme = themes.stored("ش" * 40)
    answer = themes.send("PUT", f"/{theme}", {"Name": "One", "Brand": {"DisplayName": "ش" * 60}})
    assert refused(answer) == (400, 7900)
    assert TOGETHER in answer.get_json()["Description"]


def file_of(themes: Themes, **names: str) -> Configuration:
    looks = [{"name": name, "brand": {"display_name": shown}} for name, shown in names.items()]
    file = json.dumps({"tenants": [{"name": themes.tenant.name, "themes": looks}]}).encode()
    return read(file, "f.yaml", Path())


def apply_file(themes: Themes, **names: str) -> None:
    apply_configuration.apply(themes.tenant.services, file_of(themes, **names))


def test_themes_of_a_file_have_a_bound_together(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    one = len('{"display_name": ""}') + 60
    monkeypatch.setattr("app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES", 2 * one)
    with pytest.raises(ConfigurationError, match=TOGETHER):
        apply_file(themes, one="A" * 60, two="B" * 60, three="C" * 60)
    assert answered(themes.send("GET"))["Data"] == []
    apply_file(themes, one="A" * 60, two="B" * 60)
    apply_file(themes, one="A" * 40, two="B" * 80)
    apply_file(themes, one="A" * 80, two="B" * 40)
    with pytest.raises(ConfigurationError, match=TOGETHER):
        apply_file(themes, one="A" * 80, two="B" * 41)


def test_file_that_removes_a_theme_has_its_room(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES", 120)
    apply_file(themes, one="A" * 60)
    with pytest.raises(ConfigurationError, match=TOGETHER):
        apply_file(themes, two="B" * 80)
    apply_configuration.apply(themes.tenant.services, file_of(themes, two="B" * 80), prune=True)


def test_looks_of_a_file_beyond_the_bound_can_shrink(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    apply_file(themes, one="A" * 60, two="B" * 60)
    monkeypatch.setattr("app.identity.administration.tenant_settings.themes.MAX_LOOKS_BYTES", 10)
    apply_file(themes, one="A" * 80, two="B" * 40)
    with pytest.raises(ConfigurationError, match=TOGETHER):
        apply_file(themes, one="A" * 80, two="B" * 41)


def test_stored_looks_are_read_once_for_a_file(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []
    items = SharedTable.items

    def counted(*arguments: Any) -> Any:
        reads.append(arguments)
        return items(*arguments)

    monkeypatch.setattr(SharedTable, "items", counted)
    counts = []
    for number in (1, 12):
        reads.clear()
        apply_file(themes, **{f"{number}.{each}": "A" for each in range(number)})
        counts.append(len(reads))
    assert counts[0] == counts[1]
