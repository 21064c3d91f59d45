"""AppAuth, the OpenID Foundation's library for native applications, opens the system's browser and waits on a loopback port."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conformance.signing_in import sign_in
from tests.support.browsers.chromium import Opened
from tests.support.processes.installation import eventually
from tests.support.services.servers import free_port

SCRIPT = Path(__file__).with_name("app_auth.mjs")
NODE = Path(sys.executable).with_name("node")


def test_app_auth_signs_in_on_any_loopback_port(hub_url: str, opened: Opened, tmp_path: Path) -> None:
    port, address = free_port(), tmp_path / "address"
    opener = tmp_path / "xdg-open"  # stands for the desktop: it says which address the application opens
    opener.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{address}.part" && mv "{address}.part" "{address}"\n')
    opener.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    with subprocess.Popen(
        [NODE, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        settings = {"issuer": hub_url, "client_id": "phone", "port": port}
        assert program.stdin is not None
        program.stdin.write(json.dumps(settings) + "\n")
        program.stdin.flush()
        try:
            page = opened()
            page.goto(eventually(lambda: address.is_file() and address.read_text(), "the application opens a browser"))
            sign_in(page)
            page.wait_for_url(f"http://127.0.0.1:{port}/cb?**")
            output, _ = program.communicate(timeout=60)
        finally:
            program.kill()
    report = json.loads(output.splitlines()[-1])
    assert report["claims"]["iss"] == hub_url
    assert report["claims"]["aud"] == "phone"
    assert report["claims"]["sub"]
    assert report["is_rotated"]
    assert report["is_renewed"]
