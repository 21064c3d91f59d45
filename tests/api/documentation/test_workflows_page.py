"""docs/workflows.md and docs/workflow-calls.md, run from their own text: the first workflow, and a server that answers calls."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.documentation.quickstart_terminals import paste, with_keys
from tests.support.documentation.quickstarts import environment, prepared, read, wait_for_port

SECRET, OTHER_SECRET = "whsec_cGFydG5lcnM=", "whsec_b3RoZXJz"


def test_reader_turns_a_new_account_away(tmp_path: Path) -> None:
    with prepared("../workflows", tmp_path) as running:
        steps = paste(with_keys(running), "program")
    assert sum(bool(item.shown) for item in steps) == 4
    for step in steps:
        step.check()


def test_pasted_server_answers_signed_calls_alone(tmp_path: Path) -> None:
    page, environ, log = read("../workflow-calls"), environment(tmp_path / "support"), tmp_path / "answers.log"
    for block in page.blocks:
        if block.file:
            block.write(tmp_path)

    def call(secret: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "try_call.py"], cwd=tmp_path, env={**environ, "CALL_SECRET": secret},
            text=True, capture_output=True, check=False,
        )  # fmt: skip

    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "answers.py"], cwd=tmp_path, env={**environ, "CALL_SECRET": SECRET}, stdout=out, stderr=out
        )
        try:
            wait_for_port(page.app_port, lambda: server.poll() is None, log)
            assert json.loads(call(SECRET).stdout) == {"Action": "continue", "Claims": {"tier": "gold"}}
            assert "HTTP Error 401" in call(OTHER_SECRET).stderr
        finally:
            server.kill()
            server.wait()
