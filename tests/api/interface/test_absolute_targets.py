"""Requests with an absolute target, from their bytes to the tenant: the host of the target counts everywhere (RFC 9112 section 3.2.2)."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import run_wsgi_app

from app.factories import create_both
from app.identity.administration.configuration.apply_configuration import apply
from app.identity.administration.configuration.file.read_configuration import read
from app.kit.limits.queue_slot import QueueSlot, WsgiApp
from app.kit.serving.http1.request_body import BodyBudget
from app.kit.serving.http1.request_reader import RequestReader
from app.kit.serving.server_limits import ServerLimits
from app.kit.serving.wsgi_environ import environ_of_connection
from app.kit.web.proxies import protect
from app.settings import Settings
from tests.support.services.identity_service import SECRET, make_services

FILE = b"tenants:\n  - {name: acme, brand: {display_name: Acme Tools}}\n  - {name: globex, brand: {display_name: Globex Goods}}\n"
METADATA = "/.well-known/openid-configuration"
ACME, GLOBEX, API = "acme.localhost:8000", "globex.localhost:8000", "api.localhost:8000"


@pytest.fixture(scope="module")
def both(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> WsgiApp:
    folder = tmp_path_factory.mktemp("absolute")
    url = f"sqlite:///{shutil.copy(migrated_file, folder / 'gatehouse.db')}"
    settings = Settings(data_dir=folder, database_url=url, secrets=(SECRET,))
    services = make_services(settings)
    apply(services, read(FILE, "tenants.yaml", folder))
    services.database.dispose()
    return create_both(settings)


def environ_of(target: str, host: str, *fields: str, body: bytes = b"", peer: str = "127.0.0.1") -> dict[str, Any]:
    """Return the environment that the server makes of a request."""
    line = f"{'POST' if body else 'GET'} {target} HTTP/1.1"
    length = [f"Content-Length: {len(body)}"] if body else []
    head = "\r\n".join([line, f"Host: {host}", *fields, *length, "", ""])
    common = environ_of_connection(("127.0.0.1", 8000), (peer, 50000), is_one_of_many=False)
    reader = RequestReader(common, ServerLimits(), BodyBudget(100_000))
    reader.feed(head.encode() + body)
    return reader.complete.popleft().environ


def body_of(app: WsgiApp, environ: dict[str, Any]) -> str:
    parts, _, _ = run_wsgi_app(app, environ)
    return b"".join(parts).decode()


def test_metadata_is_of_the_tenant_in_the_target(both: WsgiApp) -> None:
    for host in (ACME, API, "invented.localhost:8000"):
        for _ in range(2):  # the second answer comes from memory
            for tenant in (GLOBEX, ACME):
                metadata = json.loads(body_of(both, environ_of(f"http://{tenant}{METADATA}", host)))
                assert metadata["issuer"] == f"http://{tenant}"
    assert json.loads(body_of(both, environ_of(METADATA, ACME)))["issuer"] == f"http://{ACME}"


def test_answer_in_memory_is_of_the_tenant_in_the_target(both: WsgiApp) -> None:
    for path in (METADATA, "/service/oidc/jwks"):
        body_of(both, environ_of(path, GLOBEX))  # brings the tenant and its keys into memory
    environ = environ_of(f"http://{GLOBEX}{METADATA}", ACME)
    assert both.is_answered_from_cache(environ)
    assert not both.is_answered_from_cache(environ_of(METADATA, "invented.localhost:8000"))
    assert json.loads(body_of(both, environ))["issuer"] == f"http://{GLOBEX}"


def test_page_is_of_the_tenant_in_the_target(both: WsgiApp) -> None:
    for _ in range(2):
        page = body_of(both, environ_of(f"http://{GLOBEX}/login", ACME))
        assert "Globex Goods" in page
        assert "Acme Tools" not in page
        assert "Acme Tools" in body_of(both, environ_of("/login", ACME))


def test_target_chooses_between_hub_and_identity(both: WsgiApp) -> None:
    account = "/identity/v2/auth/account"
    assert '"ErrorCode"' in body_of(both, environ_of(f"http://{API}{account}", ACME))
    assert "Globex Goods" in body_of(both, environ_of(f"http://{GLOBEX}/login", API))


def test_queue_is_of_the_tenant_in_the_target(both: WsgiApp) -> None:
    for tenant in (ACME, GLOBEX):
        body_of(both, environ_of("/login", tenant))
    form = "Content-Type: application/x-www-form-urlencoded"
    environ = environ_of(f"http://{GLOBEX}/login", ACME, form, body=b"password=x")
    assert isinstance(environ["wsgi.input"], io.BytesIO)
    assert both.queue_slot(environ) == QueueSlot("globex", "sign-in")


@pytest.mark.parametrize(
    ("peer", "fields", "expected"),
    [
        ("203.0.113.9", (), "308 https://globex.example.com/a"),
        ("203.0.113.9", ("X-Forwarded-Proto: https", "X-Forwarded-Host: acme.example.com"), "308 https://globex.example.com/a"),
        ("203.0.113.9", ("Forwarded: proto=https;host=acme.example.com",), "308 https://globex.example.com/a"),
        ("10.0.0.1", (), "308 https://globex.example.com/a"),
        ("10.0.0.1", ("X-Forwarded-Proto: https",), "200 globex.example.com"),
        ("10.0.0.1", ("X-Forwarded-Proto: https", "X-Forwarded-Host: ACME.example.com"), "200 acme.example.com"),
        ("10.0.0.1", ("X-Forwarded-Proto: https", "X-Forwarded-Host: acme.example.com:99999"), "200 globex.example.com"),
        ("10.0.0.1", ("X-Forwarded-Proto: https", "X-Forwarded-Host: user@acme.example.com"), "200 globex.example.com"),
        ("10.0.0.1", ("X_Forwarded_Proto: https", "X_Forwarded_Host: acme.example.com"), "308 https://globex.example.com/a"),
        ("10.0.0.1", ("Forwarded: proto=https;host=acme.example.com",), "308 https://globex.example.com/a"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_proxy_and_target_agree_on_host_and_scheme(
    peer: str, fields: tuple[str, ...], expected: str, scheme: str
) -> None:
    """The scheme of a target makes no connection secure; a trusted proxy's field counts before the target, any other is ignored."""

    def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Location", environ["HTTP_HOST"])])
        return []

    app = protect(application, scheme="https", domain="example.com", trusted_proxies=["10.0.0.0/8"])
    environ = environ_of(f"{scheme}://GLOBEX.example.com/a", "acme.example.com", *fields, peer=peer)
    _, status, headers = run_wsgi_app(app, environ)
    assert f"{status[:3]} {headers['Location']}" == expected
    assert ("Strict-Transport-Security" in headers) == status.startswith("200")
