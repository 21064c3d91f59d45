"""The hashing queue: which requests wait, in which tenant's queue, and how a shed request is answered."""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder

from app.contract.catalogue import CATALOGUE, WHOLE_LIST
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.factories import create_both, create_hub, create_identity
from app.identity.administration.configuration.apply_configuration import apply
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.credentials.passwords.hash_limiter import HashLimiter
from app.identity.platform.password_hashing import HashingBusy
from app.kit.limits.queue_slot import SHED, LoadShed, QueueSlot, WsgiApp, may_wait
from app.settings import Settings
from tests.support.services.identity_service import SECRET, make_services

KEY = "11111111-2222-3333-4444-555555555555"
FILE = f"""
tenants:
  - name: acme
    api_key: {KEY}
    settings: {{locales: [en, de], default_locale: en}}
"""
API, ACME = "http://api.localhost:8000", "http://acme.localhost:8000"
LOGIN = "/identity/v2/auth/login"


@pytest.fixture(scope="module")
def settings(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("hashing")
    url = f"sqlite:///{shutil.copy(migrated_file, folder / 'gatehouse.db')}"
    made = Settings(data_dir=folder, database_url=url, secrets=(SECRET,))
    services = make_services(made)
    apply(services, read(FILE.encode(), "tenant.yaml", folder))
    services.database.dispose()
    return made


@pytest.fixture(scope="module")
def both(settings: Settings) -> WsgiApp:
    return create_both(settings)


def slot_of(app: WsgiApp, path: str, base: str, **options: Any) -> QueueSlot | None:
    builder = EnvironBuilder(path, base, method=options.pop("method", "POST"), **options)
    environ = builder.get_environ()
    environ["wsgi.input"] = io.BytesIO(environ["wsgi.input"].read())
    slot = app.queue_slot(environ)
    assert environ["wsgi.input"].tell() == 0, "the body is left for the application"
    return slot


def visit(app: WsgiApp, path: str, base: str) -> None:
    Client(app).get(path, base_url=base)


def test_no_hashing_operation_is_a_get() -> None:
    queued = [operation for operation in CATALOGUE if operation.heavy_work and operation.method in ("GET", "HEAD")]
    assert {operation.heavy_work for operation in queued} == {WHOLE_LIST}


@pytest.mark.parametrize(
    ("query", "is_complete"),
    [
        ("", True), ("&name=page", True), ("&xpage=1", True), ("&page=", True), ("&page=1", False), ("&PAGE=2", False),
        ("&%70agesize=9", False),
    ],
)  # fmt: skip
def test_whole_list_waits_in_the_tenants_queue(both: WsgiApp, query: str, is_complete: bool) -> None:
    Client(both).post(f"{LOGIN}?apikey={KEY}", base_url=API, json={})
    slot = slot_of(both, f"/v2/manage/organizations?apikey={KEY}{query}", API, method="GET")
    assert slot == (QueueSlot("acme", "list") if is_complete else None)
    assert slot_of(both, f"/v2/manage/organizations/org_1?apikey={KEY}{query}", API, method="GET") is None


def test_unknown_tenants_share_one_queue(settings: Settings) -> None:
    new_app = create_both(settings)
    for key in (KEY, "99999999-2222-3333-4444-555555555555", "x" * 500):
        assert slot_of(new_app, f"{LOGIN}?apikey={key}", API, json={}) == QueueSlot("", "sign-in")
    for host in ("acme", "invented", "invented.invented"):
        form = {"password": "x"}
        assert slot_of(new_app, "/login", f"http://{host}.localhost:8000", data=form) == QueueSlot("", "sign-in")


def test_known_tenant_has_one_queue_by_every_name(both: WsgiApp) -> None:
    visit(both, "/login", ACME)
    Client(both).post(f"{LOGIN}?apikey={KEY}", base_url=API, json={})
    visit(both, "/.well-known/openid-configuration", ACME)
    slots = {
        slot_of(both, f"{LOGIN}?apiKey={KEY.upper()}", API, json={}),
        slot_of(both, LOGIN, API, json={}, headers={"X-Gatehouse-ApiKey": KEY}),
        slot_of(both, "/login", ACME, data={"password": "x"}),
        slot_of(both, "/api/oidc/token", ACME, data={"grant_type": "password"}),
    }
    assert slots == {QueueSlot("acme", "sign-in")}
    assert slot_of(both, f"/identity/v2/auth/register?apikey={KEY}", API, json={}) == QueueSlot("acme", "bulk")


@pytest.mark.parametrize("grant", ["client_credentials", "refresh_token", "authorization_code"])
def test_requests_without_hash_skip_queue(both: WsgiApp, grant: str) -> None:
    assert slot_of(both, "/api/oidc/token", ACME, data={"grant_type": grant, "client_secret": "s3cret"}) is None
    assert slot_of(both, "/api/oidc/introspect", ACME, data={"token": "password"}) is None
    assert slot_of(both, "/consent", ACME, data={"csrf": "x"}) is None
    assert slot_of(both, "/login", ACME, method="GET") is None
    assert slot_of(both, "/invented", ACME, data={}) is None


@pytest.mark.parametrize(
    "body",
    [
        b"grant_type=password", b"grant_type=%70assword", b"grant_type=P%41SSWORD", b'{"grant_type": "\\u0070assword"}',
        b"x=" + b"y" * 100_000,
    ],
)  # fmt: skip
def test_encoded_grant_type_does_not_skip_queue(both: WsgiApp, body: bytes) -> None:
    slot = slot_of(both, "/api/oidc/token", ACME, data=body)
    assert slot is not None
    assert slot.work == "sign-in"


def test_undeclared_hash_does_not_block_a_thread() -> None:
    limiter, token = HashLimiter(1), may_wait.set(False)
    try:
        with limiter.place("acme"), pytest.raises(HashingBusy), limiter.place("acme"):
            pass
    finally:
        may_wait.reset(token)


def shed(app: WsgiApp, path: str, base: str, status: int, **options: Any) -> Any:
    answer = Client(app).post(path, base_url=base, environ_overrides={SHED: LoadShed(status, 7)}, **options)
    assert (answer.status_code, answer.headers["Retry-After"]) == (status, "7")
    assert "no-store" in answer.headers["Cache-Control"]
    return answer


@pytest.mark.parametrize(("status", "code"), [(429, 429), (503, 950)])
def test_shed_operation_gets_interface_error_body(both: WsgiApp, status: int, code: int) -> None:
    body = shed(both, f"{LOGIN}?apikey={KEY}", API, status, json={"email": "ada@example.com", "password": "x"}).json
    assert (body["ErrorCode"], body["Description"]) == (code, "Too many requests are waiting. Try again later.")


@pytest.mark.parametrize(("status", "error"), [(429, "temporarily_unavailable"), (503, "server_error")])
def test_shed_grant_gets_oauth_error(both: WsgiApp, status: int, error: str) -> None:
    body = shed(both, "/api/oidc/token", ACME, status, data={"grant_type": "password"}).json
    assert body["error"] == error
    assert set(body) == {"error", "error_description"}


@pytest.mark.parametrize("status", [429, 503])
def test_shed_form_gets_page_in_visitor_language(both: WsgiApp, status: int) -> None:
    answer = shed(both, "/login", ACME, status, data={"password": "x"}, headers={"Accept-Language": "de"})
    assert 'lang="de"' in answer.text


def test_separate_hub_queues_unknown_tenants_together(settings: Settings) -> None:
    hub = create_hub(replace(settings, api_url="http://127.0.0.1:9"))
    assert slot_of(hub, "/login", ACME, data={"password": "x"}) == QueueSlot("", "sign-in")
    assert slot_of(hub, "/register", ACME, data={"password": "x"}) == QueueSlot("", "bulk")
    assert slot_of(hub, "/consent", ACME, data={"csrf": "x"}) is None


@pytest.mark.parametrize(("typed", "is_queued"), [("x", True), (None, False)])
def test_visit_waits_only_with_a_typed_password(settings: Settings, typed: str | None, is_queued: bool) -> None:
    identity = create_identity(replace(settings, api_url="http://inside.test:8000"))
    path = "/hub/own/organizations/leave"
    header = VisitorClaims(host="acme.localhost:8000", password=typed).to_header()
    slot = slot_of(
        identity, path, "http://inside.test:8000", json={"Organization": "x"}, headers={VISIT_HEADER: header}
    )
    assert (slot is not None) is is_queued
    assert slot_of(identity, path, "http://inside.test:8000", headers={VISIT_HEADER: "no claims"}) is None
