"""Restrictions on the API secret: allowed and denied IP addresses, and the end of a trial."""

from datetime import timedelta

import pytest
from werkzeug.test import Client

from app.contract.errors import IpRefused
from app.identity.platform.services import IdentityServices
from app.kit.web.proxies import is_listed
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, refused


def is_refused_from(server: TenantServer, address: str) -> bool:
    parameters = {"apikey": server.api_key, "apisecret": server.api_secret, "email": "absent@example.com"}
    base = f"http://{server.services.settings.api_hostname}"
    environ = {"REMOTE_ADDR": address}
    response = Client(server.app).get(MANAGE, query_string=parameters, base_url=base, environ_base=environ)
    return refused(response)[1] == IpRefused.code


@pytest.mark.parametrize(
    ("address", "is_refused"),
    [("10.1.2.3", True), ("::ffff:10.1.2.3", True), ("2001:db8::7", True), ("", True), ("192.0.2.1", False)],
)
def test_denied_ip_is_refused_in_any_notation(
    new_tenant_server: NewTenantServer, address: str, is_refused: bool
) -> None:
    server = new_tenant_server(denied_ips=["10.0.0.0/8", "2001:db8::/32"])
    assert is_refused_from(server, address) is is_refused


@pytest.mark.parametrize(("address", "is_refused"), [("10.1.2.3", False), ("192.0.2.1", True), ("", True)])
def test_only_allowed_ip_is_accepted(new_tenant_server: NewTenantServer, address: str, is_refused: bool) -> None:
    server = new_tenant_server(allowed_ips=["10.0.0.0/8"])
    assert is_refused_from(server, address) is is_refused


def test_malformed_ip_list_raises_error() -> None:
    with pytest.raises(ValueError, match="does not appear to be"):
        is_listed("127.0.0.1", ("127.0.0.0/8", "10.0.0.0/33"))


@pytest.mark.parametrize(("days", "is_over"), [(-1, True), (2, False)])
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+14:00"])
def test_trial_ends_at_configured_time(
    services: IdentityServices, new_tenant_server: NewTenantServer, days: int, is_over: bool, form: str
) -> None:
    ends = (services.clock.now() + timedelta(days=days)).strftime(form)
    response = new_tenant_server(trial_ends_at=ends).send("GET", MANAGE, email="absent@example.com")
    assert (refused(response)[1] == 6003) is is_over


@pytest.mark.parametrize(("method", "path"), [("GET", "/sso/oauth/redirect"), ("POST", "/sso/oauth/access_token")])
def test_ended_trial_is_named_at_the_older_addresses_of_oauth(
    services: IdentityServices, new_tenant_server: NewTenantServer, method: str, path: str
) -> None:
    ended = (services.clock.now() - timedelta(days=1)).strftime("%Y-%m-%d")
    server = new_tenant_server(trial_ends_at=ended)
    assert refused(server.send(method, path, with_secret=False)) == (403, 6003)
