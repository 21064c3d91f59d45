"""Sign-in by a tenant's OpenID provider and by an organization's connection, at npm oidc-provider."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.conformance.oidc_provider.connected import CUSTOM_OAUTH, MINA, NewUpstreamConnection
from tests.support.services.identity_service import on_one_database, pass_time

pytestmark = on_one_database


@pytest.mark.parametrize("algorithm", ["RS256", "PS256", "ES256", "EdDSA"])
def test_both_sign_ins_open_the_account(new_connection: NewUpstreamConnection, algorithm: str) -> None:
    connection = new_connection(id_token_signed_response_alg=algorithm)
    person = connection.at_provider()
    first = connection.sign_in(connection.visitor(), person)
    assert first.profile_name == "Mina Harker", first.text
    assert person.asked == ["login", "consent"]
    assert connection.sign_in(connection.visitor(), person).profile_name == "Mina Harker"
    assert person.asked == ["login", "consent"], "the provider's session is still there"
    assert len(connection.uids()) == 1
    assert connection.failed_checks() == []


@pytest.mark.parametrize("kind", [CUSTOM_OAUTH], indirect=True)
def test_plain_oauth_client_opens_the_account(new_connection: NewUpstreamConnection) -> None:
    """By its endpoints alone: the ID token that comes too is not read."""
    connection = new_connection()
    person = connection.at_provider()
    first = connection.sign_in(connection.visitor(), person)
    assert first.heading == "Create your account", first.text
    assert first.form("Create account").fields["email"] == MINA
    assert first.press("Create account").heading == "Check your email"


def test_hint_is_the_login_at_the_provider(new_connection: NewUpstreamConnection) -> None:
    connection = new_connection()
    target = {"connection" if connection.organization else "provider": connection.name}
    visitor, person = connection.visitor(), connection.at_provider("nobody@else.example")
    redirected = visitor.authorize(connection.shop(), login_hint=MINA, **target)
    back = visitor.open(person.sign_in(redirected.address))
    assert "code" in back.query
    assert visitor.open("/profile").profile_name == "Mina Harker"


@pytest.mark.parametrize("parameters", [{"prompt": "login"}, {"max_age": "30"}], ids=str)
def test_reauthentication_asks_for_the_login_again(
    new_connection: NewUpstreamConnection, parameters: dict[str, str]
) -> None:
    connection = new_connection()
    visitor, person = connection.visitor(), connection.at_provider()
    connection.sign_in(visitor, person)
    pass_time(connection.tenant.services, seconds=45)  # less than clocks may differ: the provider has its own
    page = visitor.authorize(connection.shop(), **parameters)
    assert page.heading == "Confirm it’s you"
    redirected = page.follow(f"Continue with {connection.title}")
    back = visitor.open(person.sign_in(redirected.address))
    assert person.asked == ["login", "consent", "login"]
    assert "code" in back.query, back.text


def test_rotated_keys_are_found(new_connection: NewUpstreamConnection) -> None:
    connection = new_connection()
    person = connection.at_provider()
    assert connection.sign_in(connection.visitor(), person).heading == "Profile"
    connection.provider.rotate_keys()
    pass_time(connection.tenant.services, seconds=61)
    assert connection.sign_in(connection.visitor(), person).heading == "Profile"


def test_provider_gets_what_standards_want(new_connection: NewUpstreamConnection) -> None:
    connection = new_connection()
    asked = parse_qs(urlsplit(connection.begin(connection.visitor())).query)
    assert asked["response_type"] == ["code"]
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["redirect_uri"] == [connection.callback]
    assert asked.keys() >= {"state", "nonce", "code_challenge", "client_id", "scope"}
