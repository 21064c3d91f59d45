"""Files of an import: exports of several realms, records that are too deep, and broken JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.account_import.batch_import import ImportOutcome
from app.identity.administration.account_import.import_record import RecordRefused
from tests.support.journeys.account_import import KEYCLOAK, account, imported_files, keycloak, results_of
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(custom_uid=True)


def realm(name: str, *users: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "realm": name,
        "enabled": True,
        "clients": [{"clientId": "account"}],
        "users": list(users),
        **more,
    }


def person(name: str) -> dict[str, Any]:
    return keycloak(KEYCLOAK["argon2"], id=f"id-{name}", username=name, email=f"{name}@example.com")


def written(folder: Path, text: str, name: str = "all.json") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_export_of_all_realms_is_read(indent: int | None, tenant: World, tmp_path: Path) -> None:
    text = json.dumps([realm("master", person("admin")), realm("acme", person("ada"), person("eve"))], indent=indent)
    done = imported_files(tenant, [written(tmp_path, text)], "keycloak")
    assert [str(file.place) for file in done] == ["all.json: account 1 (ada)", "all.json: account 2 (eve)"]
    assert account(tenant).uid == "id-ada"


def test_several_realms_need_a_choice(tenant: World, tmp_path: Path) -> None:
    both = written(tmp_path, json.dumps([realm("acme", person("ada")), realm("shop", person("eve"))]))
    apart = [
        written(tmp_path, json.dumps(realm(name, person(f"{name}user"))), f"{name}.json") for name in ("acme", "shop")
    ]
    for files in ([both], apart):
        with pytest.raises(RecordRefused, match=r"several realms: acme, shop\. Choose one with --realm NAME"):
            imported_files(tenant, files, "keycloak")
        with pytest.raises(RecordRefused, match=r"found 'other'\. They have acme, shop"):
            imported_files(tenant, files, "keycloak", realm="other")
    assert [done.place.name for done in imported_files(tenant, [both], "keycloak", realm="shop")] == ["eve"]
    assert [done.place.name for done in imported_files(tenant, apart, "keycloak", realm="acme")] == ["acmeuser"]


def test_organizations_of_the_chosen_realm_count(tenant: World, tmp_path: Path) -> None:
    globex = {"organizations": [{"name": "Globex", "members": [{"username": "ada"}]}]}
    text = json.dumps([realm("acme", person("ada"), **globex), realm("shop", person("ada"))])
    path = written(tmp_path, text)
    (refused,) = imported_files(tenant, [path], "keycloak", realm="acme")
    assert "'Globex'" in refused.says[0]
    assert results_of(imported_files(tenant, [path], "keycloak", realm="shop")) == ["created"]
    broken = written(tmp_path, json.dumps([realm("acme", person("ada"), organizations=["Globex"])], indent=1))
    with pytest.raises(RecordRefused, match=r"all\.json: line \d+: organizations\[0\]: expected an object"):
        imported_files(tenant, [broken], "keycloak")


def test_realms_without_format_are_recognized(tenant: World, tmp_path: Path) -> None:
    with pytest.raises(RecordRefused, match="looks like an export of Keycloak"):
        imported_files(tenant, [written(tmp_path, json.dumps([realm("acme", person("ada"))]))], "gatehouse")


def deep(opening: str, closing: str, levels: int) -> str:
    return opening * levels + "1" + closing * levels


DEEP = {
    "lines": '{"email": "one@example.com"}\n{"email": "two@example.com", "custom_fields": %s}\n{"email": "three@example.com"}',
    "array": '[{"email": "one@example.com"},\n{"email": "two@example.com", "custom_fields": %s},\n{"email": "three@example.com"}]',
    "object": '{"users": [{"email": "one@example.com"},\n{"email": "two@example.com", "custom_fields": %s},\n{"username": "three"}]}',
    "first line": '{"email": "two@example.com", "custom_fields": %s}\n{"email": "one@example.com"}\n{"email": "three@example.com"}',
}  # fmt: skip


@pytest.mark.parametrize("levels", [64, 2_000, 100_000])
@pytest.mark.parametrize("name", DEEP)
def test_deep_record_is_refused_by_its_line(name: str, levels: int, tenant: World, tmp_path: Path) -> None:
    """The path of each level was a text of its own: 100,000 brackets took 25 GB, and the system ended the process."""
    path = written(tmp_path, DEEP[name] % deep('{"a":', "}", levels))
    done = {file.place.name or "two": file for file in imported_files(tenant, [path], "gatehouse")}
    refused = done.pop("two", None) or done.pop("two@example.com")
    assert refused.outcome is ImportOutcome.REFUSED
    line = 1 if name == "first line" else 2
    assert f"line {line}" in f"{refused.place} {refused.says[0]}"
    assert "expected at most 64 levels of lists and objects" in refused.says[0]
    assert results_of([*done.values()]) == ["created", "created"]


@pytest.mark.parametrize("text", ["[" * 300_000, '{"users":' * 300_000, '[{"a":' * 300_000])
def test_file_of_brackets_is_refused(text: str, tenant: World, tmp_path: Path) -> None:
    with pytest.raises(RecordRefused, match=r"all\.json: line 1 isn't valid JSON"):
        imported_files(tenant, [written(tmp_path, text)], "gatehouse")


def test_deep_organization_is_refused(tenant: World, tmp_path: Path) -> None:
    text = json.dumps(realm("acme", person("ada"), organizations=["%"])).replace('"%"', deep("[", "]", 50_000))
    with pytest.raises(RecordRefused, match=r"organizations\[0\]"):
        imported_files(tenant, [written(tmp_path, text)], "keycloak")


def test_broken_json_names_its_line(tenant: World, tmp_path: Path) -> None:
    path = written(tmp_path, '\ufeff[{"email": "one@example.com"},\n{"email" "two@example.com"}]')
    with pytest.raises(RecordRefused, match=r"all\.json: line 2 isn't valid JSON"):
        imported_files(tenant, [path], "gatehouse")
