"""Machine tokens: the client credentials grant for management operations."""

import base64
import json
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from app.contract.errors import MachineRefused
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import Cost
from app.identity.protocols.oauth.tokens import machine_tokens
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.callers import call_of

AUDIENCE = "http://api.localhost:8000/identity/v2/manage"


@pytest.fixture
def robot(world: World) -> RelyingParty:
    return world.application(
        "robot", application_type="m2m", grant_types=["client_credentials"], redirect_uris=[],
        audience_scopes={AUDIENCE: ["profile:read", "profile:create"]},
    )  # fmt: skip


def ask(robot: RelyingParty, **changed: str | None) -> Any:
    form = {"grant_type": "client_credentials", "audience": AUDIENCE, **robot.client_credentials(), **changed}
    return robot.post("/service/oauth/token", form)


def test_machine_gets_signed_token_for_an_hour(robot: RelyingParty) -> None:
    body = ask(robot).json
    assert (body["expires_in"], body["expire_in"], body["token_type"]) == (3600, "3600", "Bearer")
    assert "refresh_token" not in body
    keys = KeySet.import_key_set(robot.get("/service/oauth/jwks").get_json())
    claims = jwt.decode(body["access_token"], keys, algorithms=["RS256"]).claims
    assert claims["iss"] == robot.hub_url + "/"
    assert claims["sub"] == f"{robot.client_id}@client"
    assert claims["aud"] == [AUDIENCE]
    assert claims["cid"] == robot.client_id
    assert claims["gty"] == "client_credentials"
    assert claims["scp"] == ["profile:read", "profile:create"]
    assert claims["exp"] - claims["iat"] == 3600


def test_machine_token_request_accepts_json_body(robot: RelyingParty) -> None:
    body = {"grant_type": "client_credentials", "audience": AUDIENCE, **robot.client_credentials()}
    assert robot.wsgi.post("/service/oauth/token", json=body, base_url=robot.hub_url).status_code == 200


@pytest.mark.parametrize(
    ("changed", "status", "error"),
    [
        ({"audience": None}, 400, "invalid_request"),
        ({"client_id": None}, 400, "invalid_request"),
        ({"client_id": "absent"}, 401, "invalid_client"),
        ({"client_secret": "wrong"}, 403, "unauthorized_client"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"audience": "https://elsewhere.example"}, 403, "unauthorized_client"),
        ({"scope": "profile:read role:delete"}, 400, "invalid_scope"),
    ],
)
def test_machine_token_errors_follow_interface(
    robot: RelyingParty, changed: dict[str, str | None], status: int, error: str
) -> None:
    answer = ask(robot, **changed)
    assert (answer.status_code, answer.json["error"]) == (status, error)


def test_machine_token_scope_can_be_narrowed(robot: RelyingParty) -> None:
    assert claims_in(ask(robot, scope="profile:read").json["access_token"])["scp"] == ["profile:read"]


def test_client_without_grant_gets_no_machine_token(shop: RelyingParty, phone: RelyingParty) -> None:
    for client in (shop, phone):
        assert ask(client).json["error"] == "unauthorized_client"


def test_machine_token_is_introspected_and_revoked(services: IdentityServices, robot: RelyingParty) -> None:
    token = ask(robot).json["access_token"]
    introspection = robot.post("/service/oauth/introspect", {"token": token, **robot.client_credentials()}).json or {}
    assert introspection["active"] is True
    assert introspection["sub"] == f"{robot.client_id}@client"
    assert (introspection["iss"], introspection["aud"], introspection["gty"]) == (
        robot.hub_url + "/",
        [AUDIENCE],
        "client_credentials",
    )
    with call_of(services, robot.tenant_name) as call:
        assert machine_tokens.verify(call, token)["cid"] == robot.client_id
    answer = robot.post("/service/oauth/revoke", {"token": token, **robot.client_credentials()})
    assert (answer.status_code, answer.json) == (200, {})
    introspection = robot.post("/service/oauth/introspect", {"token": token, **robot.client_credentials()}).json or {}
    assert introspection == {"active": False}
    with call_of(services, robot.tenant_name) as call, pytest.raises(MachineRefused):
        machine_tokens.verify(call, token)


def test_machine_token_works_for_second_management_audience(services: IdentityServices, robot: RelyingParty) -> None:
    token = ask(robot, audience="http://api.localhost:8000/v2/manage").json["access_token"]
    with call_of(services, robot.tenant_name) as call:
        assert machine_tokens.verify(call, token)["scp"] == ["profile:read", "profile:create"]


def test_tenant_is_read_from_machine_token(services: IdentityServices, robot: RelyingParty) -> None:
    token = ask(robot).json["access_token"]
    assert machine_tokens.tenant_of(services, token, Cost()).name == robot.tenant_name
    for text in (None, "", "x", "a.b.c", "a.e30.c", token.split(".")[0] + ".bnVsbA.x"):
        with pytest.raises(MachineRefused):
            machine_tokens.tenant_of(services, text, Cost())


@pytest.mark.parametrize("name", ["a\x00b", "", "..", "ü", "a/b", "x" * 300])
def test_issuer_without_tenant_is_refused(services: IdentityServices, name: str) -> None:
    claims = (
        base64.urlsafe_b64encode(json.dumps({"iss": f"http://{name}.localhost:8000/"}).encode()).rstrip(b"=").decode()
    )
    with pytest.raises(MachineRefused):
        machine_tokens.tenant_of(services, f"e30.{claims}.x", Cost())


def test_forged_foreign_and_expired_machine_tokens_are_refused(
    services: IdentityServices,
    robot: RelyingParty,
    shop: RelyingParty,
    machine_readable: RelyingParty,
    browser: Browser,
    ada: Person,
    new_world: NewWorld,
) -> None:
    token = ask(robot).json["access_token"]
    header, payload, signature = token.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"at+jwt"}').rstrip(b"=").decode()
    claims = {**claims_in(token), "scp": ["all"]}
    widened = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=").decode()
    other = RSAKey.generate_key(2048, auto_kid=True)
    kid = json.loads(base64.urlsafe_b64decode(header + "=="))["kid"]
    public = json.dumps((robot.get("/service/oauth/jwks").json or {})["keys"][0])
    forged = [
        f"{none}.{payload}.",
        f"{header}.{widened}.{signature}",
        jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": kid}, claims, other),
        jwt.encode({"alg": "RS256", "typ": "at+jwt", "kid": kid, "jwk": other.as_dict(private=False)}, claims, other),
        (shop.redeem(browser.code(shop, ada)).json or {})["id_token"],
        (machine_readable.redeem(browser.code(machine_readable, ada)).json or {})["access_token"],
        "",
        public,
    ]
    for text in forged:
        with call_of(services, robot.tenant_name) as call, pytest.raises(MachineRefused):
            machine_tokens.verify(call, text)
    with call_of(services, new_world().name) as call, pytest.raises(MachineRefused):
        machine_tokens.verify(call, token)
    with moved(services, seconds=3601), call_of(services, robot.tenant_name) as call, pytest.raises(MachineRefused):
        machine_tokens.verify(call, token)


def test_client_credentials_grant_gives_token_without_account(world: World) -> None:
    service = world.application("service", grant_types=["client_credentials"], scope="openid report:read")
    body = (
        service.back(
            "token", {"grant_type": "client_credentials", "scope": "report:read", **service.client_credentials()}
        ).json
        or {}
    )
    assert "refresh_token" not in body
    assert "id_token" not in body
    introspection = service.introspect(body["access_token"])
    assert (introspection["sub"], introspection["scope"]) == (service.client_id, "report:read")
    assert service.userinfo(body["access_token"]).status_code == 401
    openid = service.back(
        "token", {"grant_type": "client_credentials", "scope": "openid", **service.client_credentials()}
    )
    assert (openid.json or {})["error"] == "invalid_scope"
