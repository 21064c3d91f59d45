"""Runs a program that uses openid-client for Node, and returns its output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conformance.provider import BYE, CALLBACK, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor

SCRIPT = Path(__file__).with_name("openid_client.mjs")


NODE = Path(sys.executable).with_name("node")


def run(
    provider: ConformanceProvider, visitor: ConformanceVisitor, script: Path = SCRIPT, **more: Any
) -> dict[str, Any]:
    """Run the relying party, follow its redirects as the visitor, and return its report."""
    with subprocess.Popen([NODE, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        stdin = program.stdin
        assert stdin is not None
        assert program.stdout is not None

        def write(message: dict[str, Any]) -> None:
            stdin.write(json.dumps(message) + "\n")
            stdin.flush()

        settings = {"issuer": provider.issuer, "client_id": provider.client_id, "secret": provider.secret}
        write({**settings, "callback": CALLBACK, "bye": BYE, **more})
        for line in program.stdout:
            message: dict[str, Any] = json.loads(line)
            if "open" not in message:
                return message
            write({"at": visitor.arrive(message["open"], message["until"])})
    raise AssertionError(f"the relying party ended with {program.returncode}")
