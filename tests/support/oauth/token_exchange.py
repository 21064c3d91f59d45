"""Token exchange between two applications. pytest loads it as a plugin."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from app.contract.applications.file import TOKEN_EXCHANGE
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.tokens.subject_tokens import ACCESS_TOKEN
from app.kit import randomness
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World

STOCK = "https://stock.example/api"


Tokens = dict[str, Any]


@pytest.fixture
def frontend(world: World) -> RelyingParty:
    """The application that people sign in to; the service `orders` may act for them."""
    return world.application("front", client_id="front", access_token_format="jwt", may_act=["orders"])


@pytest.fixture
def orders(world: World) -> RelyingParty:
    """A service that exchanges the tokens which it gets, for the service `stock`."""
    return world.application(
        "orders", client_id="orders", access_token_format="jwt", redirect_uris=[], scope="openid profile email",
        grant_types=[TOKEN_EXCHANGE, "client_credentials"], exchange_audiences=[STOCK],
    )  # fmt: skip


def signed_in(world: World, client: RelyingParty, ada: Person, **parameters: str | None) -> Tokens:
    answer = client.redeem(world.browser().code(client, ada, **parameters))
    assert answer.status_code == 200, answer.text
    return answer.json or {}


def exchanged(client: RelyingParty, token: str, kind: str = ACCESS_TOKEN, **changed: str | None) -> TestResponse:
    form = {"grant_type": TOKEN_EXCHANGE, "subject_token": token, "subject_token_type": kind}
    return client.back("token", {**form, **client.client_credentials(), **changed})


def good(answer: TestResponse) -> Tokens:
    assert answer.status_code == 200, answer.text
    return answer.json or {}


def error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "tokens")


def change_token(world: World, token: str, **columns: Any) -> None:
    where = (access_tokens.c.tenant_id == world.tenant_id, access_tokens.c.token_hash == randomness.digest(token))
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        if "facts" in columns:
            stored = work.run(select(access_tokens.c.facts).where(*where)).scalar_one()
            columns["facts"] = {**stored, **columns["facts"]}
        work.run(update(access_tokens).where(*where).values(**columns))
