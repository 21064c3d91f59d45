"""The image and compose.yaml cannot be built here, so what they name is held against what is there."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support import sources

SETTING = re.compile(r"GATEHOUSE_[A-Z_]+")


def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(sources.text(Path("compose.yaml")))
    return loaded


def dockerfile() -> str:
    return sources.text(Path("Dockerfile"))


def test_every_setting_they_give_is_one_that_is_read() -> None:
    known = set(SETTING.findall(sources.text(Path("app/settings.py"))))
    given = set(SETTING.findall(dockerfile()))
    given |= {name for service in compose()["services"].values() for name in service.get("environment", {})}
    assert {name for name in given if name.startswith("GATEHOUSE_")} - known == set()


def test_every_file_they_take_is_there() -> None:
    copied = [line.split()[1:-1] for line in dockerfile().splitlines() if re.match(r"COPY (?!--from)", line)]
    mounted = [
        volume.split(":")[0]
        for service in compose()["services"].values()
        for volume in service.get("volumes", [])
        if volume.startswith("./")
    ]
    named = [name for names in copied for name in names] + [name for name in mounted if name != "./deploy/config"]
    assert [name for name in named if not (sources.ROOT / name).exists()] == []


def test_what_the_image_copies_is_not_kept_from_it() -> None:
    let_in = {line[1:] for line in sources.text(Path(".dockerignore")).splitlines() if line.startswith("!")}
    copied = {
        name for line in dockerfile().splitlines() if re.match(r"COPY (?!--from)", line) for name in line.split()[1:-1]
    }
    assert copied - let_in == set()


def test_the_image_runs_as_somebody_without_rights() -> None:
    assert re.search(r"^USER 10001", dockerfile(), re.MULTILINE)
    ours = [service for service in compose()["services"].values() if service.get("image", "").startswith("gatehouse:")]
    assert ours
    assert all(service["read_only"] and service["cap_drop"] == ["ALL"] for service in ours)


def test_only_the_migration_knows_the_owner() -> None:
    services = compose()["services"]
    assert [
        name for name, service in services.items() if "GATEHOUSE_MIGRATE_URL" in service.get("environment", {})
    ] == ["migrate"]


def test_what_serves_meets_every_command_of_the_program() -> None:
    """The commands in compose.yaml are commands that the program has."""
    used = {
        service["command"][0]
        for service in compose()["services"].values()
        if service.get("image", "").startswith("gatehouse:")
    }
    shown = subprocess.run(
        [Path(sys.executable).parent / "gatehouse", "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert {name for name in used if not re.search(rf"^  {name}\b", shown, re.MULTILINE)} == set()


def test_the_roles_get_every_name_they_ask_for() -> None:
    asked = set(re.findall(r":'(\w+)'", sources.text(Path("deploy/postgres-roles.sql"))))
    given = set(re.findall(r"--set (\w+)=", sources.text(Path("deploy/postgres-init.sh"))))
    assert asked == given
