"""scim-sanity calls the server over HTTP, for a tenant and for an organization."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from werkzeug.serving import make_server

from tests.support.organizations.management import a_business
from tests.support.scim.connected import ScimClient, connect, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer


@contextmanager
def served(client: ScimClient) -> Iterator[str]:
    """Serve the tenant's host on a port of its own; yield the address."""
    tenant = client.business.tenant
    host = f"{tenant.name}.{tenant.services.settings.hub_domain}"

    def at_host(environ: dict[str, Any], start_response: Any) -> Any:
        return tenant.app({**environ, "HTTP_HOST": host}, start_response)

    server = make_server("127.0.0.1", 0, at_host, threaded=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/scim/v2"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def failures(client: ScimClient, *options: str) -> tuple[list[str], int]:
    """Return what fails, and how much passes."""
    with served(client) as url:
        command = [sys.executable, "-m", "scim_sanity", "probe", url, "--token", client.token, "--json-output"]
        done = subprocess.run(
            [*command, "--i-accept-side-effects", *options], capture_output=True, text=True, timeout=150, check=False
        )
    report = json.loads(done.stdout[done.stdout.index("{") :])
    results = report["results"]
    failed = [
        f"{item['name']}: {item.get('message')}" for item in results if item["status"].lower() in ("fail", "error")
    ]
    return failed, sum(item["status"].lower() == "pass" for item in results)


def test_scim_sanity_finds_no_fault_in_tenant(new_tenant_server: NewTenantServer) -> None:
    failed, passed = failures(connect(a_business(new_tenant_server)))
    assert (failed, passed >= 20) == ([], True)


def test_scim_sanity_finds_no_fault_in_organization(new_tenant_server: NewTenantServer) -> None:
    client = connect_organization(a_business(new_tenant_server), domain="example.com")
    failed, passed = failures(client)
    assert (failed, passed >= 20) == ([], True)
