"""The password grant, for older clients that list it."""

import pytest
from sqlalchemy import select

from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.consents import required_forms
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def older_app(world: World) -> RelyingParty:
    return world.application("older-app", grant_types=["password", "refresh_token"])


def ask(client: RelyingParty, person: Person, **changed: str | None) -> tuple[int, dict[str, str]]:
    form = {
        "grant_type": "password",
        "username": person.email,
        "password": person.password,
        **client.client_credentials(),
        **changed,
    }
    answer = client.back("token", form)
    return answer.status_code, answer.json or {}


def test_password_grant_returns_tokens(older_app: RelyingParty, ada: Person) -> None:
    status, tokens = ask(older_app, ada, scope="openid email")
    assert status == 200
    assert claims_in(tokens["id_token"])["sub"] == ada.uid
    assert (older_app.userinfo(tokens["access_token"]).json or {})["email"] == ada.email
    assert older_app.refresh(tokens["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_session_keeps_the_start_of_a_long_address(world: World, older_app: RelyingParty, ada: Person) -> None:
    """The zone of an IPv6 address has any length, and the column has 64 characters."""
    older_app.address = f"fe80::1%{'z' * 80}"
    assert ask(older_app, ada)[0] == 200
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        stored = work.run(select(sessions.c.address).where(sessions.c.uid == ada.uid)).scalar_one()
    assert stored == older_app.address[:64]


def test_wrong_password_and_unknown_account_look_alike(older_app: RelyingParty, ada: Person) -> None:
    wrong = ask(older_app, ada, password="wrong")
    unknown = ask(older_app, ada, username="absent@example.test")
    assert wrong == unknown
    assert (wrong[0], wrong[1]["error"]) == (400, "invalid_grant")


def test_password_grant_failures_lock_account(older_app: RelyingParty, ada: Person) -> None:
    for _ in range(5):
        ask(older_app, ada, password="wrong")
    assert ask(older_app, ada) == (
        400,
        {"error": "invalid_grant", "error_description": "Your account has been locked."},
    )


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"username": None}, "invalid_request"),
        ({"password": None}, "invalid_request"),
        ({"scope": "admin"}, "invalid_scope"),
    ],
)
def test_password_grant_with_invalid_parameters_is_refused(
    older_app: RelyingParty, ada: Person, changed: dict[str, str | None], error: str
) -> None:
    assert ask(older_app, ada, **changed)[1]["error"] == error


def test_client_without_password_grant_is_refused(shop: RelyingParty, ada: Person) -> None:
    assert ask(shop, ada)[1]["error"] == "unauthorized_client"


def test_password_grant_requires_accepted_consents(new_world: NewWorld) -> None:
    world = new_world(**required_forms("FirstLogin"))
    client = world.application("older-app", grant_types=["password"])
    status, answer = ask(client, world.person("ada@example.test"))
    assert (status, answer["error"]) == (400, "invalid_grant")
    assert "accepted first" in answer["error_description"]
