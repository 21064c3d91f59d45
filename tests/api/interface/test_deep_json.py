"""JSON of unauthenticated callers that is nested too deeply is refused as malformed, wherever it is read."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable

import httpx
import pytest
from joserfc import jws
from joserfc.jwk import OctKey
from werkzeug.test import TestResponse

from app.identity.administration.configuration.file import yaml_document
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.credentials.second_factors.authenticators.duo_client import DuoClient, DuoDenied
from app.identity.messaging.senders import twilio
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.services import IdentityServices
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.relying_party import RelyingParty
from tests.support.oauth.signed_requests import ASSERTION_TYPE
from tests.support.oauth.world import NewWorld
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.plain_client import PlainClient

LEVELS = 1_200
"""More than Python's recursion limit; few enough for a header of HTTP."""
DEEP = "[" * LEVELS + "]" * LEVELS
MEMBERS = f'{{"iss": {DEEP}, "jti": "1"}}'


def part(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


HEADER = '{"alg": "ES256", "typ": "dpop+jwt"}'
JWTS = {"payload": f"{part(HEADER)}.{part(MEMBERS)}.AAAA", "header": f"{part(MEMBERS)}.{part('{}')}.AAAA"}
EntryPoint = Callable[[RelyingParty, str], TestResponse]


def token(client: RelyingParty, **form: str) -> TestResponse:
    return client.back("token", {**client.client_credentials(), **form})


def registered(client: RelyingParty, body: str) -> TestResponse:
    return as_json(client, "register", body)


def as_json(client: RelyingParty, what: str, body: str) -> TestResponse:
    return client.wsgi.post(f"/api/oidc/{what}", data=body, content_type="application/json", base_url=client.hub_url)


ENTRY_POINTS: dict[str, EntryPoint] = {
    "client assertion": lambda client, jwt: client.back(
        "token", {"grant_type": "client_credentials", "client_assertion_type": ASSERTION_TYPE, "client_assertion": jwt}
    ),
    "assertion of the JWT bearer grant": lambda client, jwt: token(
        client, grant_type="urn:ietf:params:oauth:grant-type:jwt-bearer", assertion=jwt
    ),
    "subject token": lambda client, jwt: token(
        client, grant_type="urn:ietf:params:oauth:grant-type:token-exchange", subject_token=jwt,
        subject_token_type="urn:ietf:params:oauth:token-type:access_token",
    ),
    "pushed request object": lambda client, jwt: client.back("par", {**client.client_credentials(), "request": jwt}),
    "pushed claims": lambda client, _: client.push(claims=f'{{"userinfo": {DEEP}}}'),
    "pushed authorization details": lambda client, _: client.push(authorization_details=DEEP),
    "DPoP proof": lambda client, jwt: client.back("token", client.client_credentials(), headers={"DPoP": jwt}),
    "access token": lambda client, jwt: client.userinfo(jwt),
    "introspected token": lambda client, jwt: client.back("introspect", {**client.client_credentials(), "token": jwt}),
    "software statement": lambda client, jwt: registered(client, json.dumps({"software_statement": jwt})),
    "registration": lambda client, _: registered(client, f'{{"redirect_uris": {DEEP}}}'),
    "keys of a registration": lambda client, _: registered(client, f'{{"jwks": {{"keys": {DEEP}}}}}'),
    "body of the token endpoint": lambda client, _: as_json(client, "token", DEEP),
}  # fmt: skip


@pytest.mark.parametrize("name", ENTRY_POINTS)
@pytest.mark.parametrize("place", JWTS)
def test_deep_json_is_refused_by_the_protocols(name: str, place: str, new_world: NewWorld) -> None:
    issuers = {"https://federation.example.test": "https://federation.example.test/keys"}
    world = new_world(client_registration={"mode": "open", "software_statement_issuers": issuers})
    answer = ENTRY_POINTS[name](world.application("shop"), JWTS[place])
    assert 200 <= answer.status_code < 500, answer.text
    assert answer.status_code >= 400 or answer.get_json() == {"active": False}


@pytest.mark.parametrize("levels", [150, LEVELS, 100_000])
def test_deep_body_is_refused(levels: int, acme: TenantServer) -> None:
    for path in ("/identity/v2/auth/login", "/identity/v2/manage/account"):
        body = '{"email": ' + "[" * levels + "]" * levels + "}"
        http = PlainClient(acme.app, use_cookies=False)
        answer = http.post(
            path, data=body, content_type="application/json", base_url=f"http://{acme.services.settings.api_hostname}",
            query_string={"apikey": acme.api_key, "apisecret": acme.api_secret},
        )  # fmt: skip
        assert 400 <= answer.status_code < 500, answer.text


@pytest.mark.parametrize("path", ["/.well-known/openid-configuration", "/keys", "/userinfo"])
def test_deep_answer_of_a_provider_is_no_json(
    path: str, services: IdentityServices, fake_provider: FakeProvider
) -> None:
    fake_provider.answers[path] = (200, {"Content-Type": "application/json"}, MEMBERS.encode())
    with pytest.raises(ProviderUnavailable, match="aren’t JSON"):
        outbound_http.get_json_object(services.provider_metadata.resolver, fake_provider.url + path)


def test_deep_token_of_duo_is_refused() -> None:
    secret = "s" * 40
    duo = DuoClient(url="https://api.duo.test", client_id="D" * 20, client_secret=secret)
    signed = jws.serialize_compact({"alg": "HS512"}, MEMBERS, OctKey.import_key(secret), algorithms=["HS512"])
    with pytest.raises(DuoDenied):
        duo._verify(signed)


def test_deep_answer_of_twilio_has_no_members() -> None:
    assert twilio._json_body(httpx.Response(400, text=MEMBERS)) == {}


@pytest.mark.parametrize(
    "text", ["[" * 50_000, '{"a": ' * 50_000, "a: [" + "- " * 5_000, "\n".join(" " * n + "a:" for n in range(200))]
)
def test_deep_yaml_is_refused_by_its_line(text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"gatehouse\.yaml:\d+: expected (at most 20 levels|valid YAML)"):
        yaml_document.read(text.encode(), "gatehouse.yaml")
