"""Rate limits per client count the IPv6 /64 network instead of the single address."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from app.contract.messages.models import SmsKind
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.kit.operations.errors import ApiError
from tests.support.accounts.registering import primary
from tests.support.accounts.sotts import sott_of
from tests.support.services.identity_service import pass_time
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer

AUTH = "/identity/v2/auth"
REQUESTS: dict[str, tuple[str, str, Any, dict[str, str]]] = {
    "sign_in": ("POST", f"{AUTH}/login", {"email": "ada@example.test", "password": "x"}, {}),
    "register": ("POST", f"{AUTH}/register", {"Email": primary("ada@example.test"), "Password": PASSWORD}, {}),
    "forgot": ("POST", f"{AUTH}/password", {"email": "ada@example.test"}, {}),
    "reset": ("PUT", f"{AUTH}/password", {"resettoken": "x", "password": PASSWORD}, {}),
    "availability": ("GET", f"{AUTH}/email", None, {"email": "ada@example.test"}),
}
LIMITS = {f"{name}_per_minute_per_address": 3 for name in REQUESTS}


def statuses(tenant: TenantServer, name: str, addresses: list[str]) -> list[int]:
    method, path, body, query = REQUESTS[name]
    base = f"http://{tenant.services.settings.api_hostname}"
    sent = {"json": body} if body is not None else {}
    query_string = {"apikey": tenant.api_key, **({"sott": sott_of(tenant)} if name == "register" else {}), **query}
    return [
        Client(tenant.app)
        .open(
            path, method=method, query_string=query_string, base_url=base, environ_base={"REMOTE_ADDR": address}, **sent
        )
        .status_code
        for address in addresses
    ]


@pytest.mark.parametrize("name", REQUESTS)
def test_addresses_of_one_network_share_limit(new_tenant_server: NewTenantServer, name: str) -> None:
    tenant = new_tenant_server(limits=LIMITS)
    answers = statuses(tenant, name, [f"2001:db8:1:2::{number:x}" for number in range(1, 5)])
    assert 429 not in answers[:3]
    assert answers[3] == 429
    assert 429 not in statuses(tenant, name, ["2001:db8:1:3::1"])


def test_limit_of_a_network_counts_the_last_minute(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(limits=LIMITS)
    addresses = ["2001:db8:1:2::1"] * 3
    assert 429 not in [status for name in REQUESTS for status in statuses(tenant, name, addresses)]
    pass_time(tenant.services, seconds=40)
    assert {status for name in REQUESTS for status in statuses(tenant, name, addresses[:1])} == {429}
    pass_time(tenant.services, seconds=80)
    assert 429 not in [status for name in REQUESTS for status in statuses(tenant, name, addresses)]


def test_addresses_of_one_network_share_sms_limit(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"sms_per_address": {"amount": 3, "minutes": 60}})
    sent = 0
    for number in range(5):
        with call_of(tenant.services, tenant.name) as call:
            object.__setattr__(call.raw, "address", f"2001:db8:1:2::{number}")
            try:
                messaging.sms(
                    call, SmsKind.VERIFICATION, f"+4930123450{number}", account=None, facts=MessageFacts(otp="482913")
                )
                sent += 1
            except ApiError:
                continue
    assert sent == 3


def test_no_limit_is_keyed_by_single_address() -> None:
    sources = sorted(Path("app/identity").rglob("*.py"))
    assert sources
    by_address = re.compile(r"(count_against|refuse_over_limit)\([^)]*\b(call|context|request|raw)\.address")
    assert [str(path) for path in sources if by_address.search(path.read_text())] == []
