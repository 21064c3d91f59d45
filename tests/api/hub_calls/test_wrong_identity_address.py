"""A hub whose `GATEHOUSE_API_URL` leads nowhere, or to something else, says so at its start and as long as it isn't ready."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from app.hub.client.startup_check import IdentityUnusable, check_identity
from app.settings import Settings
from tests.support.processes.installation import Installation, eventually, installed
from tests.support.services.servers import NO_AUTHORITIES, free_port


class _Ok(BaseHTTPRequestHandler):
    """Answers everything with 200, as a start page of a proxy does."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def identity(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Run an identity service alone."""
    with installed(tmp_path_factory.mktemp("identity")) as ours:
        ours.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{ours.port}"
        ours.tenant()
        ours.run("serve", "--only", "identity", "--bind", f"127.0.0.1:{ours.port}")
        eventually(lambda: ours.send("GET", "/health/ready").status_code == 200, "it serves")
        yield ours


@pytest.fixture
def another() -> Iterator[int]:
    """Return the port of a web server that is no identity service."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Ok)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def sentence(settings: Settings) -> str:
    with pytest.raises(IdentityUnusable) as problem:
        check_identity(settings)
    return str(problem.value)


def test_right_address_is_accepted(identity: Installation) -> None:
    check_identity(identity.settings)


def test_wrong_address_is_named_with_what_is_there(identity: Installation, another: int) -> None:
    right, nowhere = identity.settings, free_port()
    assert "doesn't respond" in sentence(replace(right, api_url=f"http://127.0.0.1:{nowhere}"))
    assert "isn't a Gatehouse" in sentence(replace(right, api_url=f"http://127.0.0.1:{another}"))
    other_name = sentence(replace(right, api_url=f"http://localhost:{identity.port}"))
    assert f"GATEHOUSE_API_URL (http://localhost:{identity.port})" in other_name
    assert "same GATEHOUSE_API_URL" in other_name
    assert "line of the secret key" in sentence(replace(right, secrets=(b"another secret of the tests 1234",)))


def test_hub_with_a_wrong_address_warns_and_is_not_ready(another: int, tmp_path: Path) -> None:
    with installed(tmp_path) as hub:
        hub.environ["GATEHOUSE_API_URL"] = f"http://127.0.0.1:{another}"
        hub.run("serve", "--only", "hub", "--bind", f"127.0.0.1:{hub.port}")

        def ready() -> httpx.Response:
            return httpx.get(f"http://127.0.0.1:{hub.port}/health/ready", timeout=60, verify=NO_AUTHORITIES)

        eventually(lambda: ready().json().get("parts") is not None)
        assert ready().status_code == 503
        assert ready().json()["parts"] == {"identity": "down"}
        log = (hub.folder / "log").read_text()
    warning = (
        f"Warning: The server at GATEHOUSE_API_URL (http://127.0.0.1:{another}) isn't a Gatehouse identity service."
    )
    assert warning in log
    assert '"health.down"' in log
