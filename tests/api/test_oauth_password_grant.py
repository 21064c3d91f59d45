"""The password grant, for older clients that list it."""

import pytest

from tests.support.consents import asked
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person, RelyingParty, claims_in


@pytest.fixture
def older_app(world: World) -> RelyingParty:
    return world.application("older-app", grant_types=["password", "refresh_token"])


def ask(client: RelyingParty, person: Person, **changed: str | None) -> tuple[int, dict[str, str]]:
    form = {
        "grant_type": "password",
        "username": person.email,
        "password": person.password,
        **client.proves(),
        **changed,
    }
    answer = client.back("token", form)
    return answer.status_code, answer.json or {}


def test_a_password_gives_tokens(older_app: RelyingParty, ada: Person) -> None:
    status, held = ask(older_app, ada, scope="openid email")
    assert status == 200
    assert claims_in(held["id_token"])["sub"] == ada.uid
    assert (older_app.userinfo(held["access_token"]).json or {})["email"] == ada.email
    assert older_app.refresh(held["refresh_token"]).status_code == 200


def test_wrong_and_unknown_look_alike(older_app: RelyingParty, ada: Person) -> None:
    wrong = ask(older_app, ada, password="wrong")
    unknown = ask(older_app, ada, username="nobody@example.test")
    assert wrong == unknown
    assert (wrong[0], wrong[1]["error"]) == (400, "invalid_grant")


def test_it_counts_failures_as_the_page_does(older_app: RelyingParty, ada: Person) -> None:
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
def test_what_is_missing_is_named(
    older_app: RelyingParty, ada: Person, changed: dict[str, str | None], error: str
) -> None:
    assert ask(older_app, ada, **changed)[1]["error"] == error


def test_other_clients_may_not(shop: RelyingParty, ada: Person) -> None:
    assert ask(shop, ada)[1]["error"] == "unauthorized_client"


def test_it_goes_round_no_consent_form(new_world: NewWorld) -> None:
    world = new_world(**asked("FirstLogin"))
    client = world.application("older-app", grant_types=["password"])
    status, answer = ask(client, world.person("ada@example.test"))
    assert (status, answer["error"]) == (400, "invalid_grant")
    assert "accepted first" in answer["error_description"]
