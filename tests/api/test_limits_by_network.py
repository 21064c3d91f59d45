"""Limits of a visitor count the network: whoever has a /64 of IPv6 has 2^64 addresses, and one of everything else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from app.contract.messages import SmsKind
from app.identity.messaging import service as messaging
from app.kit.errors import ApiError
from tests.support.callers import call_of
from tests.support.registering import primary
from tests.support.sotts import sott_of
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer

AUTH = "/identity/v2/auth"
WAYS: dict[str, tuple[str, str, Any, dict[str, str]]] = {
    "sign_in": ("POST", f"{AUTH}/login", {"email": "ada@example.test", "password": "x"}, {}),
    "register": ("POST", f"{AUTH}/register", {"Email": primary("ada@example.test"), "Password": PASSWORD}, {}),
    "forgot": ("POST", f"{AUTH}/password", {"email": "ada@example.test"}, {}),
    "reset": ("PUT", f"{AUTH}/password", {"resettoken": "x", "password": PASSWORD}, {}),
    "availability": ("GET", f"{AUTH}/email", None, {"email": "ada@example.test"}),
}
LIMITS = {f"{name}_per_minute_per_address": 3 for name in WAYS}


def statuses(tenant: TenantServer, way: str, addresses: list[str]) -> list[int]:
    method, path, body, query = WAYS[way]
    base = f"http://{tenant.services.settings.api_hostname}"
    sent = {"json": body} if body is not None else {}
    asked = {"apikey": tenant.api_key, **({"sott": sott_of(tenant)} if way == "register" else {}), **query}
    return [
        Client(tenant.app)
        .open(path, method=method, query_string=asked, base_url=base, environ_base={"REMOTE_ADDR": one}, **sent)
        .status_code
        for one in addresses
    ]


@pytest.mark.parametrize("way", WAYS)
def test_one_network_has_one_limit(new_tenant_server: NewTenantServer, way: str) -> None:
    tenant = new_tenant_server(limits=LIMITS)
    said = statuses(tenant, way, [f"2001:db8:1:2::{number:x}" for number in range(1, 5)])
    assert 429 not in said[:3]
    assert said[3] == 429
    assert 429 not in statuses(tenant, way, ["2001:db8:1:3::1"])


def test_one_network_has_one_share_of_messages(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"sms_per_address": {"amount": 3, "minutes": 60}})
    sent = 0
    for number in range(5):
        with call_of(tenant.services, tenant.name) as call:
            object.__setattr__(call.raw, "address", f"2001:db8:1:2::{number}")
            try:
                messaging.sms(call, SmsKind.VERIFICATION, f"+4930123450{number}", account=None, facts={"otp": "482913"})
                sent += 1
            except ApiError:
                continue
    assert sent == 3


def test_no_limit_counts_single_addresses() -> None:
    sources = sorted(Path("app/identity").rglob("*.py"))
    assert sources
    limiting = re.compile(r"(spend|demand)\([^)]*\b(call|raw)\.address")
    assert [str(one) for one in sources if limiting.search(one.read_text())] == []
