"""Claims about roles and permissions: only where an application is registered for them and asks, and never too long."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from app.identity.protocols.oauth.claims.role_claims import MAX_TOKEN_BYTES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, code_of, moved
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import answered

MANAGE = "/identity/v2/manage"
SCOPE = "openid profile email roles permissions"
CLAIMS = {"roles", "permissions", "role_contexts", "_claim_names", "_claim_sources"}
SHOP = {
    "context": "shop", "roles": ["clerk"], "additional_permissions": ["orders:refund"], "expiration": "2999-01-01T00:00:00.000Z",
}  # fmt: skip
EXPECTED = {
    "roles": ["editor"], "role_contexts": [SHOP], "permissions": ["orders:read", "orders:refund", "pages:read", "pages:write"],
}  # fmt: skip


def manage(world: World, method: str, path: str, body: Any = None) -> dict[str, Any]:
    """Send a management request of the tenant."""
    query = {"apikey": world.api_key, "apisecret": world.api_secret}
    base = f"http://{world.services.settings.api_hostname}"
    return answered(world.wsgi.open(f"{MANAGE}{path}", method=method, query_string=query, json=body, base_url=base))


def put_context(world: World, person: Person, **context: Any) -> None:
    manage(world, "PUT", f"/account/{person.uid}/rolecontext", {"rolecontext": [context]})


@pytest.fixture
def editor(world: World, ada: Person) -> Person:
    """A person with a role, and with roles and permissions in a context that expires and in one that has expired."""
    roles = {"editor": ["pages:read", "pages:write"], "clerk": ["orders:read", "pages:read"], "admin": ["all"]}
    new = [{"name": name, "permissions": dict.fromkeys(members, True)} for name, members in roles.items()]
    manage(world, "POST", "/role", {"roles": new})
    manage(world, "PUT", f"/account/{ada.uid}/role", {"roles": ["editor"]})
    put_context(
        world, ada, context="shop", roles=["clerk"], additionalpermissions=["orders:refund"], expiration="2999-01-01"
    )
    put_context(world, ada, context="past", roles=["admin"], additionalpermissions=["more"], expiration="2020-01-01")
    return ada


def app(world: World, name: str = "app", scope: str = SCOPE, **settings: Any) -> RelyingParty:
    return world.application(name, scope=scope, access_token_format="jwt", **settings)


def tokens(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
    stored: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).get_json()
    return stored


def role_claims(claims: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in claims.items() if name in CLAIMS}


def everywhere(client: RelyingParty, stored: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the claims about roles in the id_token, the access token and the userinfo response."""
    userinfo = client.userinfo(stored["access_token"]).json or {}
    return [role_claims(item) for item in (claims_in(stored["id_token"]), claims_in(stored["access_token"]), userinfo)]


def test_both_scopes_give_claims_everywhere(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    assert everywhere(client, tokens(client, browser, editor, scope=SCOPE)) == [EXPECTED] * 3


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("openid roles", {"roles", "role_contexts"}), ("openid permissions", {"permissions"}), ("openid profile email", set())],
)  # fmt: skip
def test_scope_selects_claims_about_roles(
    world: World, browser: Browser, editor: Person, scope: str, expected: set[str]
) -> None:
    client = app(world)
    stored = tokens(client, browser, editor, scope=scope)
    assert everywhere(client, stored) == [{name: EXPECTED[name] for name in expected}] * 3


def test_unregistered_scope_is_refused(shop: RelyingParty, browser: Browser, editor: Person) -> None:
    for scope in ("openid roles", "openid permissions"):
        step = browser.signed_in(editor).authorize(shop.authorization_parameters(scope=scope))
        assert "invalid_scope" in (step.address or "")


def test_claims_parameter_asks_for_single_claims(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    requested = json.dumps({"id_token": {"permissions": None}, "userinfo": {"roles": None}})
    in_id_token, in_access_token, in_userinfo = everywhere(client, tokens(client, browser, editor, claims=requested))
    assert in_id_token == {"permissions": EXPECTED["permissions"]}
    assert in_access_token == {}
    assert in_userinfo == {"roles": ["editor"]}


def test_claims_parameter_needs_registered_scope(shop: RelyingParty, browser: Browser, editor: Person) -> None:
    requested = json.dumps(
        {name: {"roles": {"essential": True}, "permissions": None} for name in ("id_token", "userinfo")}
    )
    stored = tokens(shop, browser, editor, claims=requested)
    assert role_claims(claims_in(stored["id_token"])) == {}
    assert role_claims(shop.userinfo(stored["access_token"]).json or {}) == {}


@pytest.mark.both_databases
def test_removed_registration_ends_claims_of_old_grants(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    stored = tokens(client, browser, editor, scope=SCOPE)
    world.change(client, scope="openid profile email permissions")
    assert role_claims(client.userinfo(stored["access_token"]).json or {}) == {"permissions": EXPECTED["permissions"]}
    fresh: dict[str, Any] = client.refresh(stored["refresh_token"]).get_json()
    assert everywhere(client, fresh) == [{"permissions": EXPECTED["permissions"]}] * 3


def test_refresh_reads_roles_again(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    stored = tokens(client, browser, editor, scope="openid roles")
    manage(world, "DELETE", "/role/editor")
    manage(world, "DELETE", f"/account/{editor.uid}/rolecontext/shop")
    fresh: dict[str, Any] = client.refresh(stored["refresh_token"]).get_json()
    assert everywhere(client, fresh) == [{"roles": [], "role_contexts": []}] * 3


def test_refresh_with_narrow_scope_omits_claims(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    stored = tokens(client, browser, editor, scope=SCOPE)
    fresh: dict[str, Any] = client.refresh(stored["refresh_token"], scope="openid permissions").get_json()
    assert everywhere(client, fresh) == [{"permissions": EXPECTED["permissions"]}] * 3


@pytest.mark.both_databases
def test_expired_context_counts_for_nothing(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    at = world.services.clock.now().replace(microsecond=0)
    put_context(world, editor, context="shop", expiration=at.isoformat())
    with moved(world.services, seconds=1):
        stored = tokens(client, browser, editor, scope=SCOPE)
        expected = {"roles": ["editor"], "role_contexts": [], "permissions": ["pages:read", "pages:write"]}
        assert everywhere(client, stored) == [expected] * 3


def test_opaque_access_token_and_signed_userinfo(world: World, browser: Browser, editor: Person) -> None:
    client = world.application("opaque", scope=SCOPE, signed_userinfo=True)
    stored = tokens(client, browser, editor, scope=SCOPE)
    assert "." not in stored["access_token"]
    assert role_claims(claims_in(client.userinfo(stored["access_token"]).text)) == EXPECTED


def test_oauth_application_gets_claims_in_jwt_access_token(world: World, browser: Browser, editor: Person) -> None:
    client = app(world, "legacy-app", protocol="oauth", scope="profile roles")
    stored = tokens(client, browser, editor, scope="roles")
    assert "id_token" not in stored
    assert role_claims(claims_in(stored["access_token"])) == {"roles": ["editor"], "role_contexts": [SHOP]}


def test_machine_gets_no_claims_about_roles(world: World, editor: Person) -> None:
    client = app(world, "machine", grant_types=("client_credentials",), redirect_uris=())
    parameters = {"grant_type": "client_credentials", "scope": "roles permissions", **client.client_credentials()}
    stored: dict[str, Any] = client.back("token", parameters).get_json()
    assert role_claims(claims_in(stored["access_token"])) == {}


def test_consent_is_asked_for_scopes_about_roles(world: World, browser: Browser, editor: Person) -> None:
    client = app(world, require_consent=True)
    step = browser.signed_in(editor).authorize(client.authorization_parameters(scope=SCOPE))
    assert {"roles", "permissions"} <= {scope.name for scope in step.scopes}
    stored: dict[str, Any] = client.redeem(code_of(browser.consent(step.interaction_id or "", True))).get_json()
    assert everywhere(client, stored) == [EXPECTED] * 3


def test_claims_that_do_not_fit_are_named(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    many = [f"permission number {number:03}" for number in range(100)]
    for role in ("editor", "clerk"):
        expected = [f"{role} {name}" for name in many[:95]]
        manage(world, "PUT", f"/role/{role}/permission", {"permissions": expected})
    stored = tokens(client, browser, editor, scope=SCOPE)
    in_id_token, in_access_token, in_userinfo = everywhere(client, stored)
    assert in_id_token == in_access_token
    assert in_id_token["roles"] == ["editor"]
    assert "permissions" not in in_id_token
    assert in_id_token["_claim_names"]["permissions"] == "userinfo"
    assert in_id_token["_claim_sources"] == {"userinfo": {"endpoint": f"{client.issuer}/service/oidc/userinfo"}}
    assert len(in_userinfo["permissions"]) == 194
    assert "_claim_names" not in in_userinfo
    assert max(len(stored["id_token"]), len(stored["access_token"])) < 2 * MAX_TOKEN_BYTES


def test_long_id_token_is_accepted_as_hint(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)
    put_context(
        world,
        editor,
        context="mall",
        additionalpermissions=[f"permission {number:03} {'x' * 20}" for number in range(60)],
    )
    stored = tokens(client, browser, editor, scope=SCOPE)
    assert "role_contexts" in claims_in(stored["id_token"])["_claim_names"]
    step = browser.authorize(client.authorization_parameters(prompt="none", id_token_hint=stored["id_token"]))
    assert code_of(step)


def test_claims_cost_two_more_statements(world: World, browser: Browser, editor: Person) -> None:
    client = app(world)

    def spent(scope: str) -> tuple[int, int]:
        answer = client.redeem(browser.code(client, editor, scope=scope))
        requested = client.userinfo((answer.json or {})["access_token"])
        return browser.spent(answer)["sql"], browser.spent(requested)["sql"]

    spent("openid")
    plain, with_roles = spent("openid"), spent(SCOPE)
    assert (with_roles[0] - plain[0], with_roles[1] - plain[1]) == (2, 2)


def test_metadata_lists_scopes_and_claims_about_roles(world: World) -> None:
    metadata = app(world).get("/.well-known/openid-configuration").json or {}
    assert {"roles", "permissions"} <= set(metadata["scopes_supported"])
    assert {"roles", "permissions", "role_contexts"} <= set(metadata["claims_supported"])
