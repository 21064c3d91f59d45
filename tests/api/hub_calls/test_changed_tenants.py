"""The hub asks which of its cached tenants changed: who may ask, and about what."""

import httpx
import pytest

from app.contract import errors
from app.contract.auth import HUB, Host
from app.contract.catalogue import CATALOGUE
from app.contract.tenants.tenant_pages import MAX_HOSTS, HeldTenants, changed_tenants
from app.contract.visitor_claims import VisitorClaims
from app.hub.client.identity_client import IdentityClient
from app.identity.platform.services import IdentityServices
from app.kit.operations.errors import ApiError
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.server import OperationServer
from tests.support.services.identity_service import before_the_store

BAD_LISTS: dict[str, dict[str, str]] = {
    "too many": {f"t{number}.localhost": "x-1" for number in range(MAX_HOSTS + 1)},
    "long host": {"x" * 255: "x-1"},
    "host with a path": {"acme.localhost/": "x-1"},
    "upper case": {"Acme.localhost": "x-1"},
    "markup": {"<script>": "x-1"},
    "empty host": {"": "x-1"},
    "line break": {"acme.localhost\n": "x-1"},
    "long version": {"acme.localhost": "x" * 101},
}


@before_the_store
@pytest.mark.parametrize("name", BAD_LISTS)
def test_malformed_list_of_hosts_is_refused(
    name: str, services: IdentityServices, identity_app: OperationServer
) -> None:
    forged = HeldTenants.model_construct(versions=BAD_LISTS[name])
    local = LocalClient(identity_app, Host.INSIDE, VisitorClaims(host=""))
    http = IdentityClient(
        services.settings.base_url, services.hub_keys, services.clock, httpx.WSGITransport(app=identity_app)
    ).for_hub()
    refusals = []
    for client in (local, http):
        with pytest.raises(ApiError) as refused:
            client(changed_tenants, forged)
        refusals.append(type(refused.value))
    assert refusals[0] is refusals[1]
    assert refusals[0].status == 400


def test_longest_list_is_answered(services: IdentityServices, identity_app: OperationServer) -> None:
    hosts = {f"{number:04}{'x' * 250}:65535": "x" * 100 for number in range(MAX_HOSTS)}
    client = IdentityClient(
        services.settings.base_url, services.hub_keys, services.clock, httpx.WSGITransport(app=identity_app)
    ).for_hub()
    assert client(changed_tenants, HeldTenants(versions=hosts)).versions == dict.fromkeys(hosts, "")


@before_the_store
def test_list_is_answered_to_the_hub_alone(services: IdentityServices, identity_app: OperationServer) -> None:
    for keys in ((), (b"the key of another installation, 32",)):
        http = httpx.WSGITransport(app=identity_app)
        outsider = IdentityClient(services.settings.base_url, keys, services.clock, http).for_hub()
        with pytest.raises(errors.HubRefused):
            outsider(changed_tenants, HeldTenants(versions={"acme.localhost": ""}))


def test_only_one_operation_of_the_hub_spans_tenants() -> None:
    spanning = [operation for operation in CATALOGUE if operation.admission.spans_tenants]
    assert spanning == [changed_tenants]
    assert spanning[0].admission.every_auth == HUB
    assert spanning[0].host is Host.INSIDE
