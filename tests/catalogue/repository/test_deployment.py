"""The Dockerfile and compose.yaml agree with the repository; no test can build the image here."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from app.identity.administration.configuration.file.read_configuration import read_file
from tests.support import sources

SETTING = re.compile(r"GATEHOUSE_[A-Z_]+")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(sources.text(Path("compose.yaml")))
    return loaded


def dockerfile() -> str:
    return sources.text(Path("Dockerfile"))


def test_every_given_setting_is_read() -> None:
    known = set(SETTING.findall(sources.text(Path("app/settings.py"))))
    values = set(SETTING.findall(dockerfile()))
    values |= {name for service in compose()["services"].values() for name in service.get("environment", {})}
    assert {name for name in values if name.startswith("GATEHOUSE_")} - known == set()


def test_every_copied_or_mounted_file_exists() -> None:
    copied = [line.split()[1:-1] for line in dockerfile().splitlines() if re.match(r"COPY (?!--from)", line)]
    mounted = [
        volume.split(":")[0]
        for service in compose()["services"].values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    ]
    named = [name for names in copied for name in names] + mounted
    assert [name for name in named if not (sources.ROOT / name).exists()] == []


def test_dockerignore_admits_every_copied_file() -> None:
    let_in = {line[1:] for line in sources.text(Path(".dockerignore")).splitlines() if line.startswith("!")}
    copied = {
        name for line in dockerfile().splitlines() if re.match(r"COPY (?!--from)", line) for name in line.split()[1:-1]
    }
    assert copied - let_in == set()


def test_image_runs_as_an_unprivileged_user() -> None:
    assert re.search(r"^USER 10001", dockerfile(), re.MULTILINE)
    ours = [service for service in compose()["services"].values() if service.get("image", "").startswith("gatehouse:")]
    assert ours
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in ours)


def test_only_the_migration_has_the_owner_url() -> None:
    services = compose()["services"]
    assert [
        name for name, service in services.items() if "GATEHOUSE_MIGRATE_URL" in service.get("environment", {})
    ] == ["migrate"]


def test_every_command_in_compose_exists() -> None:
    """Every command in compose.yaml is a command of `gatehouse`."""
    used = {
        service["command"][0]
        for service in compose()["services"].values()
        if service.get("image", "").startswith("gatehouse:")
    }
    shown = subprocess.run(
        [Path(sys.executable).parent / "gatehouse", "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert {name for name in used if not re.search(rf"^  {name}\b", shown, re.MULTILINE)} == set()


def test_role_script_gets_every_variable_it_uses() -> None:
    requested = set(re.findall(r":'(\w+)'", sources.text(Path("deploy/postgres-roles.sql"))))
    values = set(re.findall(r"--set (\w+)=", sources.text(Path("deploy/postgres-init.sh"))))
    assert requested == values


def test_database_container_gets_every_password() -> None:
    requested = set(re.findall(r"\b[A-Z]+_PASSWORD\b", sources.text(Path("deploy/postgres-init.sh"))))
    assert requested <= compose()["services"]["postgres"]["environment"].keys()


def test_settings_of_the_environment_file_are_read() -> None:
    known = set(SETTING.findall(sources.text(Path("app/settings.py"))))
    values = [*SETTING.findall(sources.text(Path("deploy/systemd/env.example")))]
    assert values
    assert set(values) <= known


def test_example_of_a_configuration_file_is_valid() -> None:
    read_file(sources.ROOT / "deploy" / "config" / "tenants.example.yaml")
