"""The commands of README.md, run from its own text in an empty folder."""

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes.command_process import Command, started
from tests.support.services.real_services import FOLDER, locked
from tests.support.services.servers import free_port
from tests.support.sources import ROOT, text

BLOCKS = re.findall(r"^```\n(.*?)^```", text(Path("README.md")), re.MULTILINE | re.DOTALL)


def block(words: str) -> str:
    (found,) = [item for item in BLOCKS if words in item]
    return str(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder where `.venv/bin/gatehouse` is the one of this environment."""
    program = tmp_path / ".venv" / "bin" / "gatehouse"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m app.cli "$@"\n')
    program.chmod(0o755)
    return tmp_path


def run(folder: Path, script: str, until: str) -> Command:
    """Run a block as pasted into a shell, at a free port instead of 8000."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}
    port = f" --bind 127.0.0.1:{free_port()}"
    script = re.sub(r"(\S*gatehouse (?:serve|new \w+))", rf"exec \1{port}", script)
    return started(["sh", "-ec", script], folder, {**ours, "GATEHOUSE_DATA_DIR": str(folder / "data")}, until)


@pytest.fixture
def serving(folder: Path) -> Iterator[Command]:
    running = run(folder, block("gatehouse serve"), "inbox.localhost")
    yield running
    assert running.end(signal.SIGTERM) == 0


def test_configured_tenant_is_served_with_the_inbox(serving: Command) -> None:
    assert re.search(r"application bakery/website client_secret: \S+", serving.output)
    assert serving.ask("GET", serving.at("bakery", "/.well-known/openid-configuration")).json()["issuer"] == serving.at(
        "bakery", ""
    )
    assert serving.ask("GET", serving.at("bakery", "/login")).status_code == 200
    assert serving.ask("GET", serving.at("inbox")).status_code == 200


def test_new_app_is_served_and_leads_to_sign_in(request: pytest.FixtureRequest, folder: Path) -> None:
    lines = re.findall(r"app.py` has (\d+) lines", text(Path("README.md")))
    assert lines == [str(text(Path("examples/starters/flask/app.py")).count("\n"))]
    with locked(
        request.config.stash[FOLDER] / "new.lock"
    ):  # as in test_new.py: one takes a free port for its app at a time
        running = run(folder, block("gatehouse new"), "app.py")
    app = re.search(r"http://localhost:\d+", running.output)
    assert app, running.output
    page, url = running.open(f"{app[0]}/sign-in")
    assert running.end(signal.SIGTERM) == 0
    assert (page.status_code, url.startswith(running.at("desk", "/login"))) == (200, True)


def test_demo_starts_by_the_command_that_make_runs() -> None:
    assert block("make run") == "make run\n"
    assert re.search(r"^run: install ##.*\n\t@\$\(BIN\)/gatehouse demo$", text(Path("Makefile")), re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/comparison.md"])
def test_linked_files_exist(page: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", text(Path(page))):
        assert (ROOT / page).parent.joinpath(link).exists(), link


def test_every_fact_of_the_comparison_has_a_source() -> None:
    page = text(Path("docs/comparison.md"))
    table, sources = page.partition("## When")[0], page.partition("## Sources")[2]
    cited = set(re.findall(r"\[(\d+)\]", table))
    listed = [line for line in sources.splitlines() if re.match(r"\d+\. ", line)]
    assert cited == set(
        re.findall(r"^(\d+)\. \[[^]]+\]\(https://[^)\s]+\), \d{4}-\d\d-\d\d$", "\n".join(listed), re.MULTILINE)
    )
    assert len(cited) == len(listed)
    rows = [line.split("|")[3:6] for line in table.splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert [cell for row in rows for cell in row if cell.strip() not in ("", "none") and "[" not in cell] == []
