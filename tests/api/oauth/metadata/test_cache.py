"""Key sets and metadata from memory are what the identity service would make anew (decision 0368)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder, TestResponse

from app.contract.catalogue import load_catalogue
from app.identity.assembly.cached_operations import CachedOperations
from app.identity.directory.tenants.keys.signing_keys import FRESH_SECONDS
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import monotonic
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import World

JWKS, DISCOVERY = "/service/oidc/jwks", "/.well-known/openid-configuration"
PATHS = sorted(
    path
    for operation in load_catalogue()
    if operation.is_cached
    for _, path in operation.addresses()
    if "{" not in path
)
FOREIGN_KEY = "11111111-1111-4111-8111-111111111111"


@dataclass
class Documents:
    """The identity service at one tenant's host."""

    server: OperationServer
    world: World
    base_url: str

    def get(self, path: str, **headers: str) -> TestResponse:
        return Client(self.server).get(path, base_url=self.base_url, headers=_named(headers))

    def cached(self, path: str, **headers: str) -> TestResponse:
        """Answer a request that was answered before, as were those for all documents."""
        for item in (*PATHS, path):
            self.get(item)
        self.get(path, **headers)
        return self.get(path, **headers)

    def made_anew(self, path: str, **headers: str) -> TestResponse:
        self.server.cached_responses.clear()
        return self.get(path, **headers)

    def is_answered_from_cache(self, path: str, method: str = "GET", **headers: str) -> bool:
        builder = EnvironBuilder(path, self.base_url, method=method, headers=[*_named(headers).items()])
        return CachedOperations(self.world.services, self.server).is_answered_from_cache(builder.get_environ())

    def kids(self) -> list[str]:
        return [key["kid"] for key in (self.get(JWKS).json or {})["keys"]]


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def documents(world: World, identity_app: OperationServer) -> Documents:
    return Documents(identity_app, world, world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("path", PATHS)
def test_cached_document_is_the_one_made_anew(documents: Documents, path: str) -> None:
    cached = documents.cached(path)
    assert documents.is_answered_from_cache(path)
    anew = documents.made_anew(path)
    assert (cached.status_code, cached.data) == (200, anew.data)
    assert sorted(cached.headers) == sorted(anew.headers)


@pytest.mark.parametrize("path", PATHS)
def test_cached_document_takes_no_statement(documents: Documents, path: str) -> None:
    cost = dict(part.strip().split("=") for part in documents.cached(path).headers["X-Gatehouse-Cost"].split(";"))
    assert (cost["sql"], cost["commits"]) == ("0", "0")


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (JWKS, {"X_Acme_ApiKey": FOREIGN_KEY}, 403),
        (JWKS, {"Authorization": "Bearer x"}, 200),
        (f"{JWKS}?apikey={FOREIGN_KEY}", {}, 403),
        (f"{JWKS}?x=<script>alert(1)</script>", {}, 400),
        ("/service/oidc/unknown/jwks", {}, 404),
        ("/service/OIDC/jwks", {}, 200),
        ("/service/oidc/userinfo", {}, 401),
    ],
    ids=["key", "token", "query", "dangerous query", "application", "case", "userinfo"],
)
def test_request_is_admitted_though_its_answer_is_cached(
    documents: Documents, path: str, headers: dict[str, str], status: int
) -> None:
    cached, anew = documents.cached(path, **headers), documents.made_anew(path, **headers)
    assert (cached.status_code, cached.data) == (anew.status_code, anew.data)
    assert cached.status_code == status
    assert cached.headers.get("Access-Control-Allow-Origin") == anew.headers.get("Access-Control-Allow-Origin")


@pytest.mark.parametrize(
    "path",
    ["/service/oidc/unknown/jwks", "/service/oidc/userinfo", "/service/oidc/authorize", f"{JWKS}?x={'%C3%A9' * 5000}"],
    ids=["application", "userinfo", "authorize", "query"],
)
def test_other_requests_may_wait(documents: Documents, path: str) -> None:
    documents.cached(path)
    assert documents.is_answered_from_cache(JWKS)
    assert not documents.is_answered_from_cache(path)


def test_cached_document_serves_pages_of_any_origin(documents: Documents) -> None:
    for origin in ("https://shop.example", "https://evil.example", "null"):
        for _ in range(2):
            answer = documents.get(JWKS, Origin=origin)
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
        assert documents.is_answered_from_cache(JWKS, Origin=origin)


def test_other_methods_are_answered_as_before(documents: Documents) -> None:
    documents.cached(JWKS)
    client = Client(documents.server)
    head = client.head(JWKS, base_url=documents.base_url)
    assert (head.status_code, head.data) == (200, b"")
    assert head.content_length == len(documents.get(JWKS).data)
    assert client.post(JWKS, base_url=documents.base_url).status_code == 405
    assert "Access-Control-Max-Age" in client.options(JWKS, base_url=documents.base_url).headers


def _rotate(world: World) -> None:
    work = UnitOfWork(world.services.database, world.tenant_id)
    world.services.signing_keys.rotate(work)
    work.commit()


def _revoke(world: World) -> None:
    work = UnitOfWork(world.services.database, world.tenant_id)
    world.services.signing_keys.revoke(work)
    work.commit()


@pytest.mark.parametrize("change", [_rotate, _revoke], ids=["rotate", "revoke"])
def test_changed_keys_are_published_at_once(world: World, documents: Documents, change: Callable[[World], Any]) -> None:
    before = [documents.kids() for _ in range(3)][-1]
    assert documents.is_answered_from_cache(JWKS)
    change(world)
    assert not documents.is_answered_from_cache(JWKS)
    assert documents.kids() != before


def test_keys_of_another_process_are_read_when_they_are_due(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents.cached(JWKS)
    assert documents.is_answered_from_cache(JWKS)
    expired = monotonic() + 60 * FRESH_SECONDS
    monkeypatch.setattr("app.identity.directory.tenants.keys.signing_keys.monotonic", lambda: expired)
    assert not documents.is_answered_from_cache(JWKS)
    assert "sql=0" not in documents.get(JWKS).headers["X-Gatehouse-Cost"]


def test_tenant_of_another_process_is_read_when_it_is_due(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents.cached(DISCOVERY)
    assert documents.is_answered_from_cache(DISCOVERY)
    monkeypatch.setattr("app.identity.directory.tenants.tenant_cache.FRESH_SECONDS", -1)
    assert not documents.is_answered_from_cache(DISCOVERY)
    assert "sql=0" not in documents.get(DISCOVERY).headers["X-Gatehouse-Cost"]


def test_changed_settings_are_in_the_metadata_at_once(world: World, documents: Documents) -> None:
    for _ in range(3):
        assert "registration_endpoint" not in (documents.get(DISCOVERY).json or {})
    world.change_settings(client_registration={"mode": "open"})
    for _ in range(3):
        assert "registration_endpoint" in (documents.get(DISCOVERY).json or {})


def test_tenants_do_not_share_documents(world: World, new_world: Callable[..., World], documents: Documents) -> None:
    foreign = new_world()
    other = Documents(documents.server, foreign, world.services.settings.hub_url(foreign.name))
    for _ in range(3):
        keys, others = documents.kids(), other.kids()
    assert not set(keys) & set(others)


def test_cache_of_documents_is_bounded(documents: Documents) -> None:
    documents.cached(JWKS)
    for number in range(2_100):
        documents.server.cached_responses.put(("other", number), ((), b""))
    assert len(documents.server.cached_responses.values()) == 2_000
    documents.server.cached_responses.clear()
