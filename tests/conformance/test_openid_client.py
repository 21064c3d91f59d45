"""openid-client for Node, certified by the OpenID Foundation, gets only issuer, id and secret."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conformance.provider import BYE, CALLBACK, Provider
from tests.conformance.visitor import Visitor

SCRIPT = Path(__file__).with_name("openid_client.mjs")
NODE = Path(sys.executable).with_name("node")


def run(provider: Provider, visitor: Visitor) -> dict[str, Any]:
    """Run the relying party; go where it sends the person, and return what it reports."""
    with subprocess.Popen([NODE, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdin is not None
        assert program.stdout is not None

        def say(what: dict[str, Any]) -> None:
            program.stdin.write(json.dumps(what) + "\n")
            program.stdin.flush()

        told = {"issuer": provider.issuer, "client_id": provider.client_id, "secret": provider.secret}
        say({**told, "callback": CALLBACK, "bye": BYE})
        for line in program.stdout:
            heard: dict[str, Any] = json.loads(line)
            if "open" not in heard:
                return heard
            say({"at": visitor.arrive(heard["open"], heard["until"])})
    raise AssertionError(f"the relying party ended with {program.returncode}")


def test_openid_client_completes_the_whole_flow(provider: Provider, visitor: Visitor) -> None:
    held = run(provider, visitor)
    assert held["claims"]["iss"] == provider.issuer
    assert held["claims"]["aud"] == provider.client_id
    assert held["person"]["email"] == "ada@example.com"
    assert held["person"]["given_name"] == "Ada"
    assert held["is_rotated"]
    assert held["is_revoked"]
    assert held["ended"] == f"{BYE}?state=bye%20now"
    assert held["silently"] == "login_required"
    if provider.secret:
        assert held["told"]["active"]
        assert held["told"]["sub"] == held["claims"]["sub"]
