"""JWT access tokens (RFC 9068), and that no token stands in for another kind (RFC 8725 section 3.11)."""

from __future__ import annotations

from typing import Any

import pytest
from joserfc import jws

from app.contract.steps import ConfirmSignOutStep
from app.identity.platform.services import IdentityServices
from app.identity.protocols.oauth.tokens import issued_jwts
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved, parameters_of
from tests.support.oauth.world import World
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import TenantServer

ORDERS = "https://orders.example/api"


def tokens_of(client: RelyingParty, browser: Browser, ada: Person, **changed: str | None) -> dict[str, Any]:
    return dict(client.redeem(browser.code(client, ada, **changed)).json or {})


def test_token_has_every_required_claim(machine_readable: RelyingParty, browser: Browser, ada: Person) -> None:
    """RFC 9068 section 2.2."""
    token = tokens_of(machine_readable, browser, ada)["access_token"]
    claims = claims_in(token)
    assert jws.extract_compact(token.encode()).headers()["typ"] == "at+jwt", "RFC 9068 section 2.1"
    assert claims["iss"] == machine_readable.issuer
    assert (claims["sub"], claims["client_id"]) == (ada.uid, machine_readable.client_id)
    assert claims["aud"] == machine_readable.client_id, "RFC 9068 section 3: a default where no resource is named"
    assert claims["exp"] - claims["iat"] == 900
    assert claims["scope"] == "openid profile email", "RFC 9068 section 2.2.3"
    again = claims_in(tokens_of(machine_readable, browser, ada)["access_token"])
    assert len({claims["jti"], again["jti"]}) == 2


def test_introspection_has_the_claims_of_the_token(
    machine_readable: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 7662 section 2.2: a resource server may note a token by `jti`, read from the token or by introspection."""
    token = tokens_of(machine_readable, browser, ada)["access_token"]
    received = machine_readable.introspect(token)
    names = ("iss", "sub", "client_id", "exp", "iat", "jti", "scope")
    assert {name: received[name] for name in names} == {name: claims_in(token)[name] for name in names}


def test_token_has_the_authentication_claims_of_the_id_token(
    services: IdentityServices, machine_readable: RelyingParty, browser: Browser, ada: Person
) -> None:
    """RFC 9068 section 2.2.1; a refreshed token tells of the same authentication."""
    stored = tokens_of(machine_readable, browser, ada)
    expected = {name: claims_in(stored["id_token"])[name] for name in ("auth_time", "amr", "acr")}
    assert expected["amr"] == ["pwd"]
    with moved(services, minutes=5):
        renewed = machine_readable.refresh(stored["refresh_token"]).json or {}
    for token in (stored["access_token"], renewed["access_token"], renewed["id_token"]):
        assert {name: claims_in(token)[name] for name in expected} == expected


def test_token_of_a_machine_has_no_claims_about_a_user(world: World) -> None:
    """RFC 9068 section 2.2: `sub` is the client's where there is no resource owner."""
    robot = world.application(
        "robot", grant_types=["client_credentials"], redirect_uris=[], access_token_format="jwt", resources=[ORDERS],
        access_token_signing_alg="ES256",
    )  # fmt: skip
    form = {"grant_type": "client_credentials", "resource": ORDERS, **robot.client_credentials()}
    claims = claims_in((robot.back("token", form).json or {})["access_token"])
    assert (claims["sub"], claims["client_id"], claims["aud"]) == (robot.client_id, robot.client_id, ORDERS)
    assert not {"auth_time", "amr", "acr", "sid"} & set(claims)


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_id_token_is_never_an_access_token(
    acme: TenantServer, world: World, browser: Browser, ada: Person, algorithm: str
) -> None:
    """RFC 9068 section 5."""
    client = world.application(
        "app", access_token_format="jwt", id_token_signed_response_alg=algorithm, access_token_signing_alg=algorithm,
        resource_server=True, interface_access="full",
    )  # fmt: skip
    stored = tokens_of(client, browser, ada)
    id_token = stored["id_token"]
    assert client.userinfo(id_token).status_code == 401
    assert client.introspect(id_token) == {"active": False}
    client.back("revoke", {"token": id_token, **client.client_credentials()})
    assert client.userinfo(stored["access_token"]).status_code == 200, "revoking it revokes nothing"
    assert client.refresh(id_token).status_code == 400
    address = {"base_url": acme.services.settings.base_url, "query_string": {"apikey": world.api_key}}
    path, own = "/identity/v2/auth/account", {"Authorization": f"Bearer {stored['access_token']}"}
    assert client.wsgi.get(path, headers=own, **address).status_code == 200
    assert client.wsgi.get(path, headers={"Authorization": f"Bearer {id_token}"}, **address).status_code != 200
    manage = client.wsgi.get(
        "/v2/manage/oauth-clients", headers={"Authorization": f"Bearer {id_token}"}, base_url=address["base_url"]
    )
    assert manage.status_code in (401, 403)


def test_access_token_is_never_an_id_token(machine_readable: RelyingParty, browser: Browser, ada: Person) -> None:
    token = tokens_of(machine_readable, browser, ada)["access_token"]
    step = browser.authorize(machine_readable.authorization_parameters(id_token_hint=token, prompt="none"))
    assert parameters_of(step)["error"] == "invalid_request"
    assert browser.sign_out(id_token_hint=token).kind is ConfirmSignOutStep


@pytest.mark.parametrize(
    ("kind", "is_read"),
    [
        ("at+jwt", True),
        ("application/at+jwt", True),
        ("AT+JWT", True),
        ("JWT", False),
        ("logout+jwt", False),
        ("", False),
    ],
)
def test_type_of_access_token_is_checked(services: IdentityServices, world: World, kind: str, *, is_read: bool) -> None:
    """RFC 9068 section 4: `at+jwt` or `application/at+jwt`, in any letter case."""
    with call_of(services, world.name) as call:
        token = services.signing_keys.sign(call.work, {"sub": "ada"}, kind)
        if is_read:
            assert issued_jwts.read(call, token, kinds=("at+jwt",)) == {"sub": "ada"}
        else:
            with pytest.raises(issued_jwts.InvalidJwt):
                issued_jwts.read(call, token, kinds=("at+jwt",))
