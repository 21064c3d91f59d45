"""Key sets and metadata that are kept are what the identity service answers (decisions/0277)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder, TestResponse

from app.identity.directory.tenants.signing_keys import _FRESH_SECONDS
from app.identity.entry.kept_documents import PATHS, KeptDocuments
from app.identity.platform.store.unit import UnitOfWork
from app.kit.clock import monotonic
from app.kit.server import Server
from tests.support.oauth_world import World

JWKS, DISCOVERY = "/service/oidc/jwks", "/.well-known/openid-configuration"


@dataclass
class Documents:
    """The identity service with its kept documents, at one tenant's host."""

    app: KeptDocuments
    base_url: str

    def get(self, path: str, **headers: str) -> TestResponse:
        return Client(self.app).get(path, base_url=self.base_url, headers=_named(headers))

    def straight(self, path: str, **headers: str) -> TestResponse:
        return Client(self.app.straight).get(path, base_url=self.base_url, headers=_named(headers))

    def is_kept(self, path: str, method: str = "GET", **headers: str) -> bool:
        builder = EnvironBuilder(path, self.base_url, method=method, headers=[*_named(headers).items()])
        return self.app.ready(builder.get_environ()) is not None

    def kids(self) -> list[str]:
        return [key["kid"] for key in (self.get(JWKS).json or {})["keys"]]


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


@pytest.fixture
def documents(world: World, identity_app: Server) -> Documents:
    return Documents(KeptDocuments(identity_app, world.services), world.services.settings.hub_url(world.name))


@pytest.mark.parametrize("path", sorted(PATHS))
def test_kept_document_is_the_answered_one(documents: Documents, path: str) -> None:
    for _ in range(3):
        answer = documents.get(path)
    assert documents.is_kept(path)
    straight = documents.straight(path)
    assert (answer.status_code, answer.data) == (200, straight.data)
    assert sorted(answer.headers) == sorted(straight.headers)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        (JWKS, {"X_Acme_ApiKey": "11111111-1111-4111-8111-111111111111"}),
        (JWKS, {"Authorization": "Bearer x"}),
        (f"{JWKS}?apikey=11111111-1111-4111-8111-111111111111", {}),
        ("/service/oidc/unknown/jwks", {}),
        ("/service/OIDC/jwks", {}),
        ("/service/oidc/userinfo", {}),
    ],
    ids=["key", "token", "query", "application", "case", "userinfo"],
)
def test_other_requests_are_answered_each_time(documents: Documents, path: str, headers: dict[str, str]) -> None:
    for _ in range(3):
        documents.get(JWKS)
        answer = documents.get(path, **headers)
    assert not documents.is_kept(path, **headers)
    straight = documents.straight(path, **headers)
    assert (answer.status_code, answer.data) == (straight.status_code, straight.data)
    assert answer.headers.get("Access-Control-Allow-Origin") == straight.headers.get("Access-Control-Allow-Origin")


def test_kept_document_serves_pages_of_any_origin(documents: Documents) -> None:
    for origin in ("https://shop.example", "https://evil.example", "null"):
        for _ in range(2):
            answer = documents.get(JWKS, Origin=origin)
            assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")
        assert documents.is_kept(JWKS, Origin=origin)


def test_head_and_post_are_never_kept(documents: Documents) -> None:
    for _ in range(3):
        documents.get(JWKS)
    assert documents.is_kept(JWKS)
    assert not documents.is_kept(JWKS, "HEAD")
    assert not documents.is_kept(JWKS, "POST")


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
    assert documents.is_kept(JWKS)
    change(world)
    assert not documents.is_kept(JWKS)
    assert documents.kids() != before


def test_keys_of_another_process_are_read_when_they_are_due(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        documents.get(JWKS)
    assert documents.is_kept(JWKS)
    late = monotonic() + 60 * _FRESH_SECONDS
    monkeypatch.setattr("app.identity.directory.tenants.signing_keys.monotonic", lambda: late)
    assert not documents.is_kept(JWKS)


def test_tenant_of_another_process_is_read_when_it_is_due(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        documents.get(DISCOVERY)
    assert documents.is_kept(DISCOVERY)
    monkeypatch.setattr("app.identity.directory.tenants.directory.FRESH_SECONDS", -1)
    assert not documents.is_kept(DISCOVERY)


def test_changed_settings_are_in_the_metadata_at_once(world: World, documents: Documents) -> None:
    for _ in range(3):
        assert "registration_endpoint" not in (documents.get(DISCOVERY).json or {})
    world.change_settings(client_registration={"mode": "open"})
    for _ in range(3):
        assert "registration_endpoint" in (documents.get(DISCOVERY).json or {})
    assert documents.is_kept(DISCOVERY)


def test_tenants_do_not_share_documents(world: World, new_world: Callable[..., World], documents: Documents) -> None:
    other = Documents(documents.app, world.services.settings.hub_url(new_world().name))
    for _ in range(3):
        keys, others = documents.kids(), other.kids()
    assert not set(keys) & set(others)
