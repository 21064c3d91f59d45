"""In one process the hub hands its calls over. What HTTP refuses is refused there too, and both answer the same."""

import io
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from sqlalchemy import select

from app.contract import errors
from app.contract.accounts.pages import profile_pages, security_pages
from app.contract.applications import application_logo_pages
from app.contract.auth import HUB, Host
from app.contract.catalogue import CATALOGUE
from app.contract.page_models import NoParameters
from app.contract.sign_in import sign_in_pages
from app.contract.tenants import tenant_pages
from app.contract.visitor_claims import VisitorClaims
from app.hub.client.identity_client import IdentityClient, SignInRequired
from app.identity.platform.audit import audit
from app.identity.platform.context import Context
from app.identity.platform.store.database import StoreContended
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.client import Client, ServiceUnavailable
from app.kit.operations.errors import ApiError
from app.kit.operations.in_process_client import LocalClient
from app.kit.operations.operation import AnyOperation, Operation
from app.kit.operations.server import OperationServer, raw_request
from app.kit.operations.wire import Wire
from tests.support.oauth.world import World
from tests.support.services.identity_service import before_the_store

# The requests of these tests are made without validation.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
OPERATIONS = [operation for operation in CATALOGUE if operation.host is Host.INSIDE]
TRANSPORTS = ("local", "http")


def client_of(world: World, server: OperationServer, transport: str, **visit: Any) -> Client:
    """Return the hub's client of a visit at the world's tenant."""
    services = world.services
    made = VisitorClaims(**{"host": f"{world.name}.{services.settings.hub_domain}", "address": "203.0.113.7", **visit})
    if transport == "local":
        return LocalClient(server, Host.INSIDE, made)
    http = httpx.WSGITransport(app=server)
    identity_client = IdentityClient(services.settings.base_url, services.hub_keys, services.clock, http)
    return identity_client.for_visit(made, lambda _: None)


def any_request(operation: AnyOperation, filler: str = "x") -> Wire:
    """Return a request with the operation's required members, for no account; the service has to refuse or to answer it."""
    values = {
        name: filler for name, info in operation.request.model_fields.items() if info.default is PydanticUndefined
        and info.default_factory is None
    }  # fmt: skip
    made: Wire = operation.request.model_construct(**values)
    return made


def result_of(client: Client, operation: AnyOperation, req: Wire) -> tuple[Any, ...]:
    """Return what the hub learns from a call."""
    try:
        return "answer", type(client(operation, req))
    except (SignInRequired, errors.NotAuthenticated):  # the hub's own client makes the one of the other
        return ("sign-in required",)
    except ApiError as refusal:
        facts = (
            refusal.description,
            refusal.data,
            refusal.problems,
            refusal.retry_after_seconds,
            refusal.provider_response,
        )
        return type(refusal), *facts
    except ServiceUnavailable as failure:
        return "unavailable", failure.status


@pytest.mark.both_databases
def test_both_transports_answer_every_operation_alike(world: World, identity_app: OperationServer) -> None:
    differing = {}
    for operation in OPERATIONS:
        req = any_request(operation)
        results = [result_of(client_of(world, identity_app, transport), operation, req) for transport in TRANSPORTS]
        if results[0] != results[1]:
            differing[operation.name] = results
    assert differing == {}


@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800"], ids=["nul", "escape", "surrogate"])
def test_control_characters_are_refused_in_every_operation(
    world: World, identity_app: OperationServer, character: str
) -> None:
    client = client_of(world, identity_app, "local")
    taken = []
    for operation in OPERATIONS:
        req = any_request(operation, f"x{character}")
        if (
            f"x{character}" in vars(req).values()
            and result_of(client, operation, req)[0] is not operation.error_profile.dangerous
        ):
            taken.append(operation.name)
    assert taken == []


@before_the_store
def test_unsigned_call_is_refused_by_every_operation(world: World, identity_app: OperationServer) -> None:
    for caller in (None, {"host": world.name}, world.name):
        outsider = LocalClient(identity_app, Host.INSIDE, caller)
        refused = [result_of(outsider, operation, any_request(operation))[0] for operation in OPERATIONS]
        assert {(kind.code, kind.status) for kind in refused} == {(errors.HubRefused.code, errors.HubRefused.status)}


@before_the_store
def test_hub_reaches_no_operation_of_other_callers(world: World, identity_app: OperationServer) -> None:
    client = client_of(world, identity_app, "local")
    for operation in CATALOGUE:
        if operation.host is not Host.INSIDE:
            with pytest.raises(ServiceUnavailable):
                client(operation, any_request(operation))


def test_hub_operations_take_a_visit_and_nothing_else() -> None:
    assert {operation.admission.every_auth for operation in OPERATIONS} == {HUB}


def test_no_request_over_the_network_names_a_caller(world: World) -> None:
    visit = VisitorClaims(host=world.name)
    environ: Any = {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/hub/tenant", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(), "caller": visit, "HTTP_CALLER": "x", "gatehouse.caller": visit,
    }  # fmt: skip
    assert raw_request(environ).caller is None


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_request_that_the_hub_did_not_validate_is_refused(
    world: World, identity_app: OperationServer, transport: str
) -> None:
    unvalidated = application_logo_pages.LogoUrl.model_construct(digest="x" * 64)
    with pytest.raises(errors.BadParameter):
        client_of(world, identity_app, transport)(application_logo_pages.read, unvalidated)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_unknown_tenant_is_refused(world: World, identity_app: OperationServer, transport: str) -> None:
    client = client_of(world, identity_app, transport, host="absent.localhost:8000")
    with pytest.raises(errors.UnknownTenant):
        client(tenant_pages.tenant, tenant_pages.TenantRequest())


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_session_of_another_tenant_is_none(
    world: World, new_world: Callable[..., World], identity_app: OperationServer, transport: str
) -> None:
    ada = world.person("ada@example.test")
    sign_in = sign_in_pages.SignInRequest(identifier=ada.email, password=ada.password)
    session = client_of(world, identity_app, transport)(sign_in_pages.sign_in, sign_in).session
    assert session is not None
    mine = client_of(world, identity_app, transport, session=session.token)
    mine(security_pages.read, NoParameters())
    foreign = client_of(new_world(), identity_app, transport, session=session.token)
    with pytest.raises((SignInRequired, errors.NotAuthenticated)):
        foreign(security_pages.read, NoParameters())


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_refusal_is_audited_with_the_visitor_and_counted(
    world: World, identity_app: OperationServer, transport: str
) -> None:
    ada = world.person("ada@example.test")
    client = client_of(world, identity_app, transport, agent="A browser", reference="BCDF-GHJK-LMNP")
    for _ in range(2):
        with pytest.raises(errors.WrongCredentials):
            client(sign_in_pages.sign_in, sign_in_pages.SignInRequest(identifier=ada.email, password="wrong"))
    work = UnitOfWork(world.services.database, world.tenant_id)
    rows = work.all(select(audit).where(audit.c.reference == "BCDF-GHJK-LMNP", audit.c.tenant_id == world.tenant_id))
    work.rollback()
    assert {row.address for row in rows} == {"203.0.113.7"}
    assert len(rows) == 2


def test_error_holds_nothing_of_the_service(world: World, identity_app: OperationServer) -> None:
    ada = world.person("ada@example.test")
    with pytest.raises(errors.WrongCredentials) as refused:
        client_of(world, identity_app, "local")(
            sign_in_pages.sign_in, sign_in_pages.SignInRequest(identifier=ada.email, password="no")
        )
    modules = [entry.frame.f_globals["__name__"] for entry in refused.traceback]
    assert not [name for name in modules if name.startswith("app.identity")]
    assert refused.value.__cause__ is refused.value.__context__ is None


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_failure_of_a_handler_is_reported_by_reference(
    world: World, identity_app: OperationServer, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_context: Context, _req: object) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(Operation, "handler", property(lambda _operation: broken))
    with pytest.raises(ServiceUnavailable) as failure:
        client_of(world, identity_app, transport, reference="BCDF-GHJK-LMNP")(
            tenant_pages.tenant, tenant_pages.TenantRequest()
        )
    assert failure.value.status == 500
    assert failure.value.reference == "An internal error. Quote reference BCDF-GHJK-LMNP."


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_call_aborted_by_store_is_run_again(
    world: World, identity_app: OperationServer, transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    def contended(_context: Context, req: object) -> None:
        runs.append(req)
        raise StoreContended("gave way") if len(runs) == 1 else errors.HubRefused("the second run")

    monkeypatch.setattr(Operation, "handler", property(lambda _operation: contended))
    with pytest.raises(errors.HubRefused):
        client_of(world, identity_app, transport)(tenant_pages.tenant, tenant_pages.TenantRequest())
    assert len(runs) == 2


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_both_transports_send_version_and_cost(world: World, identity_app: OperationServer, transport: str) -> None:
    seen: list[Any] = []
    visit = VisitorClaims(host=f"{world.name}.{world.services.settings.hub_domain}")
    http = None if transport == "local" else httpx.WSGITransport(app=identity_app)
    identity_client = IdentityClient(
        world.services.settings.base_url, world.services.hub_keys, world.services.clock, http,
        identity_app if transport == "local" else None,
    )  # fmt: skip
    identity_client.for_visit(visit, seen.append)(tenant_pages.tenant, tenant_pages.TenantRequest())
    assert seen[0].get("x-gatehouse-tenant-version")
    assert seen[0].get("X-Gatehouse-Cost").startswith("api=")


def changeable(value: Any) -> dict[int, Any]:
    """Return the lists and dicts within a response."""
    if isinstance(value, BaseModel):
        parts = list(vars(value).values())
    elif isinstance(value, dict | list | tuple):
        parts = list(value.values()) if isinstance(value, dict) else list(value)
    else:
        return {}
    own = {id(value): value} if isinstance(value, dict | list) else {}
    return own | {key: part for item in parts for key, part in changeable(item).items()}


def test_two_visits_share_no_changeable_part_of_a_response(world: World, identity_app: OperationServer) -> None:
    ada = world.person("ada@example.test")
    sign_in = sign_in_pages.SignInRequest(identifier=ada.email, password=ada.password)
    session = client_of(world, identity_app, "local")(sign_in_pages.sign_in, sign_in).session
    assert session is not None
    client = client_of(world, identity_app, "local", session=session.token)
    calls: list[tuple[AnyOperation, Wire]] = [
        (tenant_pages.tenant, tenant_pages.TenantRequest()),
        (profile_pages.profile, profile_pages.ProfileRequest()),
        (security_pages.read, NoParameters()),
    ]
    for operation, req in calls:
        first, second = client(operation, req), client(operation, req)
        assert not changeable(first).keys() & changeable(second).keys(), operation.name
