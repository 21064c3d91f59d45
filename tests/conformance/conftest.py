"""Fixtures: a real server started by the operator's commands, and a visitor who reads its pages."""

from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conformance.provider import BYE, CALLBACK, PASSWORD, SECRET, SIGNING_SECRET, ConformanceProvider
from tests.conformance.visitor import ConformanceVisitor
from tests.support.oauth.signed_requests import client_key, public_jwks
from tests.support.processes.commands import this_version
from tests.support.services.identity_service import migrated_sqlite
from tests.support.services.servers import end, free_port, is_gone

CONFIGURATION = """
tenants:
  - name: conformance
    settings: {{email_verification: optional, limits: {{sign_in_per_minute_per_address: 0}}}}
    applications:
      - name: shop
        protocol: openid
        client_id: shop
        client_secret: "{secret}"
        redirect_uris: ["{callback}"]
        post_logout_redirect_uris: ["{bye}"]
        grant_types: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:device_code"]
        token_endpoint_auth_method: client_secret_basic
      - name: phone
        protocol: openid
        client_id: phone
        application_type: native
        redirect_uris: ["{callback}"]
        post_logout_redirect_uris: ["{bye}"]
        grant_types: [authorization_code, refresh_token, "urn:ietf:params:oauth:grant-type:device_code"]
        token_endpoint_auth_method: none
      - name: watch
        protocol: openid
        client_id: watch
        application_type: native
        redirect_uris: ["{callback}"]
        token_endpoint_auth_method: none
        dpop_bound_access_tokens: true
        require_dpop_nonce: true
      - name: bank
        client_id: bank
        security_profile: fapi2
        application_type: native
        redirect_uris: ["{callback}"]
        token_endpoint_auth_method: private_key_jwt
        jwks: {jwks}
        dpop_bound_access_tokens: true
        grant_types: [authorization_code, refresh_token, client_credentials]
      - name: clerk
        client_id: clerk
        client_secret: "{signing_secret}"
        token_endpoint_auth_method: client_secret_jwt
        redirect_uris: ["{callback}"]
        grant_types: [authorization_code, client_credentials]
      - name: keeper
        client_id: keeper
        token_endpoint_auth_method: private_key_jwt
        jwks: {jwks}
        redirect_uris: ["{callback}"]
        grant_types: [authorization_code, client_credentials]
      - name: apache
        protocol: openid
        client_id: apache
        client_secret: "{secret}"
        redirect_uris: ["http://127.0.0.1:{ports[apache]}/members/callback"]
        post_logout_redirect_uris: ["http://127.0.0.1:{ports[apache]}/"]
        token_endpoint_auth_method: client_secret_basic
      - name: django
        protocol: openid
        client_id: django
        client_secret: "{secret}"
        redirect_uris: ["http://127.0.0.1:{ports[django]}/oidc/callback/"]
        post_logout_redirect_uris: ["http://127.0.0.1:{ports[django]}/"]
        token_endpoint_auth_method: client_secret_post
      - name: page
        protocol: openid
        client_id: page
        application_type: spa
        redirect_uris: ["http://127.0.0.1:{ports[page]}/cb"]
        post_logout_redirect_uris: ["http://127.0.0.1:{ports[page]}/"]
        cors_origins: ["http://127.0.0.1:{ports[page]}"]
        token_endpoint_auth_method: none
{signed}    accounts:
      - {{email: ada@example.com, password: {password}, email_verified: true, first_name: Ada, last_name: Lovelace}}
  - name: registering
    settings: {{email_verification: optional, client_registration: {{mode: open}}}}
    accounts:
      - {{email: ada@example.com, password: {password}, email_verified: true}}
"""
SIGNED = """\
      - name: {name}
        client_id: {name}
        client_secret: "{secret}"
        redirect_uris: ["{callback}"]
        subject_type: pairwise
        sector_identifier_uri: "{sector}"
        id_token_signed_response_alg: {algorithm}
        userinfo_signed_response_alg: {algorithm}
        introspection_signed_response_alg: {algorithm}
        access_token_format: jwt
        access_token_signing_alg: {algorithm}
"""


def signed_applications(sector: str) -> str:
    """Return an application for each algorithm beside RS256."""
    return "".join(
        SIGNED.format(name=algorithm.lower(), algorithm=algorithm, secret=SECRET, callback=CALLBACK, sector=sector)
        for algorithm in ("PS256", "ES256", "EdDSA")
    )


@pytest.fixture(scope="session")
def sector() -> Iterator[str]:
    """Serve a sector document, and return its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps([CALLBACK]).encode())

        def log_message(self, *_: Any) -> None:
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://sector.localhost:{server.server_address[1]}/sector.json"
        server.shutdown()


@pytest.fixture(scope="session")
def ports() -> dict[str, int]:
    """Return the port of each relying party that is a server of its own."""
    return {name: free_port() for name in ("apache", "django", "page")}


@pytest.fixture(scope="session")
def hub_url(tmp_path_factory: pytest.TempPathFactory, ports: dict[str, int], sector: str) -> Iterator[str]:
    """Serve a tenant created by `gatehouse apply` and return its URL."""
    folder, port = tmp_path_factory.mktemp("conformance"), free_port()
    environment = {**os.environ, "GATEHOUSE_DATA_DIR": str(folder), "GATEHOUSE_HUB_DOMAIN": f"localhost:{port}"}
    file = folder / "conformance.yaml"
    jwks = json.dumps(public_jwks(client_key("ES256", "bank")))
    file.write_text(
        CONFIGURATION.format(
            secret=SECRET,
            callback=CALLBACK,
            bye=BYE,
            password=PASSWORD,
            ports=ports,
            jwks=jwks,
            signed=signed_applications(sector),
            signing_secret=SIGNING_SECRET,
        )
    )
    with started(environment, file, port) as (is_running, log):
        url = f"http://conformance.localhost:{port}"
        wait_for(f"{url}/.well-known/openid-configuration", is_running, log)
        yield url


Running = Callable[[], bool]


@contextmanager
def started(environment: dict[str, str], file: Path, port: int) -> Iterator[tuple[Running, Path]]:
    """Fill a migrated database by `gatehouse apply`, and serve it; give whether it runs, and its log."""
    commands, log = this_version(), file.with_suffix(".log")
    shutil.copy(migrated_sqlite(), Path(environment["GATEHOUSE_DATA_DIR"], "gatehouse.db"))
    commands.run(environment, "apply", str(file))
    server = commands.start(environment, "serve", "--bind", f"127.0.0.1:{port}", log=log)
    try:
        yield lambda: not is_gone(server), log
    finally:
        end(server, signal.SIGTERM)


def wait_for(address: str, is_running: Running, log: Path, trust: ssl.SSLContext | bool = True) -> None:
    deadline = time.monotonic() + 30
    while True:
        try:
            httpx.get(address, timeout=5, verify=trust).raise_for_status()
            return
        except httpx.HTTPError:
            if not is_running() or time.monotonic() > deadline:
                raise AssertionError(
                    f"the server did not come up:\n{log.read_text(errors='replace')[-4000:]}"
                ) from None
            time.sleep(0.1)


@pytest.fixture(params=["shop, tenant-wide", "shop, own issuer", "phone, tenant-wide", "phone, own issuer"])
def provider(request: pytest.FixtureRequest, hub_url: str) -> ConformanceProvider:
    """The provider for one application: with or without a secret, under either issuer."""
    name, _, kind = str(request.param).partition(", ")
    issuer = hub_url if kind == "tenant-wide" else f"{hub_url}/service/oidc/{name}"
    return ConformanceProvider(issuer, name, SECRET if name == "shop" else None)


@pytest.fixture
def visitor() -> Iterator[ConformanceVisitor]:
    with ConformanceVisitor("ada@example.com", PASSWORD) as visitor:
        yield visitor
