"""docs/webhooks.md, run from its own text: the commands, and the code that verifies deliveries, with real ones."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from app.contract.webhooks.events import EVENTS
from tests.support.documentation import webhook_examples
from tests.support.documentation.quickstart_terminals import agrees, paste
from tests.support.documentation.quickstarts import prepared, read
from tests.support.fakes.https_receiver import ReceivedRequest
from tests.support.tenants.webhook_deliveries import WebhookDeliveries

PAGE = "../webhooks"
_PYTHON = """\
import json, sys
from {module} import {function}
given = json.load(sys.stdin)
result = {function}(given["secret"], given["headers"], given["body"].encode())
sys.exit(0 if result else 1)
"""
_JAVASCRIPT = """\
import { readFileSync } from "node:fs";
import { verify } from "./verify.mjs";
const given = JSON.parse(readFileSync(0));
verify(given.secret, given.headers, Buffer.from(given.body));
"""
_GO = """\
package main

import (
	"encoding/json"
	"net/http"
	"os"
)

func main() {
	var given struct {
		Secret  string
		Headers map[string]string
		Body    string
	}
	if json.NewDecoder(os.Stdin).Decode(&given) != nil {
		os.Exit(2)
	}
	header := http.Header{}
	for name, value := range given.Headers {
		header.Set(name, value)
	}
	if Verify(given.Secret, header, []byte(given.Body)) != nil {
		os.Exit(1)
	}
}
"""


@dataclass(frozen=True)
class Receiver:
    """A program that reads a secret and a request as JSON, and ends with status 0 if the page's code takes them.

    Args:
        builds: what is run once, in the folder with the page's file and the program.
    """

    file: str
    program: tuple[str, str]
    command: tuple[str, ...]
    builds: tuple[str, ...] = ()

    def prepare(self, folder: Path) -> Callable[[object, ReceivedRequest], bool]:
        """Write the files; return whether the program takes a request."""
        (block,) = (block for block in read(PAGE).blocks if block.file == self.file)
        block.write(folder)
        name, source = self.program
        (folder / name).write_text(source)
        if self.builds:
            subprocess.run(self.builds, cwd=folder, check=True, capture_output=True)

        def takes(secret: object, request: ReceivedRequest) -> bool:
            given = {"secret": secret, "headers": dict(request.headers), "body": request.body.decode()}
            run = subprocess.run(self.command, cwd=folder, input=json.dumps(given).encode(), check=False)
            return run.returncode == 0

        return takes


def python(module: str, function: str = "verify") -> Receiver:
    source = _PYTHON.format(module=module, function=function)
    return Receiver(f"{module}.py", ("receiver.py", source), (sys.executable, "receiver.py"))


RECEIVERS = {
    "python3": python("verify"),
    "node": Receiver("verify.mjs", ("receiver.mjs", _JAVASCRIPT), ("node", "receiver.mjs")),
    "go": Receiver("verify.go", ("main.go", _GO), ("./receiver",), ("go", "build", "-o", "receiver", "main.go", "verify.go")),
}  # fmt: skip


def with_headers(request: ReceivedRequest, **headers: str) -> ReceivedRequest:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return replace(request, headers={**request.headers, **named})


def without(request: ReceivedRequest, name: str) -> ReceivedRequest:
    return replace(request, headers={known: value for known, value in request.headers.items() if known != name})


def forgeries(request: ReceivedRequest) -> Mapping[str, ReceivedRequest]:
    """Return requests that no receiver may take."""
    symmetric, asymmetric = request.headers["webhook-signature"].split()
    old = str(int(request.headers["webhook-timestamp"]) - 600)
    zeros = base64.b64encode(bytes(32)).decode()
    return {
        "other body": replace(request, body=request.body.replace(b"Ada", b"Eve")),
        "other id": with_headers(request, webhook_id="0" * 32),
        "old timestamp": with_headers(request, webhook_timestamp=old),
        "no number": with_headers(request, webhook_timestamp="now"),
        "other signature": with_headers(request, webhook_signature=f"v1,{zeros}"),
        "other scheme": with_headers(request, webhook_signature=symmetric.replace("v1,", "v2,")),
        "no version": with_headers(request, webhook_signature=symmetric.removeprefix("v1,")),
        "cut off": with_headers(request, webhook_signature=f"v1, {asymmetric[:40]}"),
        "no signature": without(request, "webhook-signature"),
        "no timestamp": without(request, "webhook-timestamp"),
    }


@pytest.mark.database_alone
@pytest.mark.parametrize("tool", [name for name in RECEIVERS if shutil.which(name)])
def test_pasted_code_takes_deliveries_alone(deliveries: WebhookDeliveries, tool: str, tmp_path: Path) -> None:
    webhook, other = deliveries.subscribe(), deliveries.subscribe("Login")
    takes, request = RECEIVERS[tool].prepare(tmp_path), deliveries.delivered()

    assert takes(webhook["SigningSecret"], request)
    assert not takes(other["SigningSecret"], request)
    assert [name for name, forged in forgeries(request).items() if takes(webhook["SigningSecret"], forged)] == []


@pytest.mark.database_alone
def test_pasted_code_takes_deliveries_by_public_keys(deliveries: WebhookDeliveries, tmp_path: Path) -> None:
    deliveries.subscribe()
    takes, request = python("verify_with_keys").prepare(tmp_path), deliveries.delivered()
    deliveries.services.signing_keys.clear_cache()  # the worker, another process, made the key
    keys = deliveries.published_keys()
    other = {**keys[0], "whpk": f"whpk_{base64.b64encode(bytes(32)).decode()}"}

    assert takes(keys, request)
    assert takes([other, *keys], request)
    assert not takes([other], request)
    assert [name for name, forged in forgeries(request).items() if takes(keys, forged)] == []


@pytest.mark.database_alone
def test_pasted_code_checks_the_older_header(deliveries: WebhookDeliveries, tmp_path: Path) -> None:
    takes = python("verify_older", "is_signed").prepare(tmp_path)
    deliveries.subscribe()
    request, secret = deliveries.delivered(), deliveries.tenant.api_secret

    assert takes(secret, request)
    assert not takes(secret, replace(request, body=request.body + b" "))
    assert not takes(secret, with_headers(request, signature="é"))
    assert not takes("another", request)


@pytest.mark.database_alone
def test_named_secret_is_the_key_of_the_older_header(deliveries: WebhookDeliveries, tmp_path: Path) -> None:
    takes = python("verify_older", "is_signed").prepare(tmp_path)
    webhook = deliveries.subscribe(SecretName="shop")

    assert takes(webhook["SigningSecret"], deliveries.delivered())


def test_reader_creates_tests_and_replays(tmp_path: Path) -> None:
    with prepared(PAGE, tmp_path) as running:
        steps = paste(running, "program")
    assert sum(bool(item.shown) for item in steps) == 5
    for step in steps:
        step.check()


def test_shown_payload_is_an_example() -> None:
    shown = next(block.code for block in read(PAGE).blocks if '"HookName"' in block.code)

    assert agrees(json.loads(shown), webhook_examples.load()["UpdateProfile"])


def test_page_and_examples_have_every_event() -> None:
    rows = (
        (webhook_examples.PAGE.parent / "webhooks.md").read_text().partition("\n## Events\n")[2].partition("\n## ")[0]
    )

    assert re.findall(r"^\| `(\w+)`", rows, re.MULTILINE) == list(EVENTS)
    assert list(webhook_examples.load()) == list(EVENTS)
