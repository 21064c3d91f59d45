"""People download what is kept of them: all of it, nothing that opens anything, nothing of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.identity.entry.tables import metadata
from app.identity.platform.services import Services
from app.identity.platform.store.unit import UnitOfWork
from tests.pages.test_own_factors import adds, signed_in
from tests.support.oauth_world import NewWorld, World
from tests.support.visitor import NewVisitorAt, Seen, Visitor

HASHED = ("hash", "sealed", "lookup", "private")
"""What columns are called that hold a secret or the digest of one."""


@pytest.fixture
def services(own_services: Services) -> Services:
    """A house of the test's own: the whole of its database is read."""
    return own_services


@pytest.fixture
def there(services: Services, new_world: NewWorld) -> World:
    return new_world(
        two_factor="optional",
        second_factors={"email": False, "passkey": False},
        security_questions={"pet": "First pet?"},
    )


@pytest.fixture
def someone(there: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(there)
    return visitor


def document(page: Seen) -> dict[str, Any]:
    assert page.answer is not None
    assert page.answer.headers["Content-Disposition"].startswith('attachment; filename="')
    assert "no-store" in page.answer.headers["Cache-Control"]
    made: dict[str, Any] = json.loads(page.answer.data)
    return made


def secrets_at_rest(there: World) -> Iterator[str]:
    """Every digest, seal and private value of the tenant's rows, as text."""
    work = UnitOfWork(there.services.database, there.tenant_id)
    try:
        for table in metadata.tables.values():
            for row in work.all(table.select().where(table.c.tenant_id == there.tenant_id)):
                for name, value in row._mapping.items():
                    if any(part in name for part in HASHED) and value:
                        yield from texts(value)
    finally:
        work.rollback()


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)
    elif isinstance(value, bytes):
        yield value.hex()
    elif isinstance(value, str) and len(value) > 15:
        yield value


def test_the_file_has_everything_and_no_secret(there: World, someone: Visitor) -> None:
    ada, shop = there.person("ada@example.com", FirstName="Ada"), there.application("shop", client_name="Acme Shop")
    landed = someone.asked_by(shop).press("Sign in", identifier=ada.email, password=ada.password)
    tokens = shop.redeem(landed.query["code"]).json or {}
    app, paper = adds(someone, there, ada)
    codes = paper.press("Show my backup codes")
    someone.open("/security-questions").press("Save", answer_0="A grey owl called Archimedes")
    page = someone.open("/download-data").press("Download")
    made, text = document(page), page.answer.text if page.answer else ""
    assert (made["format"], made["profile"]["FirstName"]) == ("gatehouse-own-data/1", "Ada")
    assert made["addresses"] == [{"type": "Primary", "value": ada.email, "is_confirmed": True, "is_asked_for": False}]
    assert [one["kind"] for one in made["second_factors"]].count("backup_code") == 10
    assert [one["name"] for one in made["applications"]] == ["Acme Shop"]
    assert made["security_questions"] == [{"id": "pet", "question": "First pet?"}]
    assert len(made["sessions"]) == 1
    assert {"second_factor.enrolled", "tokens.issued", "mail.posted"} <= {one["event"] for one in made["events"]}
    kept = set(secrets_at_rest(there))
    assert len(kept) > 20
    cookies = {cookie.value for cookie in (someone.client._cookies or {}).values() if len(cookie.value) > 20}
    shown = {app.secret, ada.password, tokens["access_token"], tokens["refresh_token"], "Archimedes", *cookies}
    shown |= {code for code in codes.text.split() if len(code) == 11 and "-" in code}
    assert [one for one in kept | shown if one in text] == []


def test_nothing_of_anybody_else_is_in_it(there: World, someone: Visitor, new_visitor_at: NewVisitorAt) -> None:
    bob = there.person("bob@example.com", FirstName="Bob")
    signed_in(new_visitor_at(there), bob, "/security")
    signed_in(someone, there.person("ada@example.com"), "/download-data")
    page = someone.open("/download-data").press("Download")
    assert document(page)["profile"]["Uid"]
    assert page.answer is not None
    assert [one for one in (bob.uid, bob.email, "Bob") if one in page.answer.text] == []


def test_it_asks_the_password_again_and_is_not_served_without_end(there: World, someone: Visitor) -> None:
    ada = there.person("ada@example.com")
    signed_in(someone, ada, "/download-data")
    there.services.clock.advance(minutes=6)
    page = someone.open("/download-data")
    assert page.press("Download", password="wrong").status == 401
    for _ in range(5):
        document(page.press("Download", password=ada.password))
    refused = page.press("Download", password=ada.password)
    assert (refused.status, "That is enough for now" in refused.text) == (429, True)
    assert page.press("Download", token="x").status == 403


@pytest.mark.usefixtures("there")
def test_nobody_gets_it_without_a_session(someone: Visitor) -> None:
    assert someone.open("/download-data").heading == "Welcome back"
