"""Client metadata that are refused (RFC 7591 section 3.2.2), and redirect URIs by type (OpenID Connect Registration section 2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.oauth.registrations import CALLBACK, METADATA, Registrar, error_of
from tests.support.oauth.world import NewWorld

OPEN = {"client_registration": {"mode": "open"}}


@pytest.fixture
def registrar(new_world: NewWorld) -> Registrar:
    return Registrar(new_world(**OPEN))


GOOD_URIS: list[tuple[dict[str, Any], str]] = [
    ({"redirect_uris": ["https://a.example/cb?x=1", "https://b.example:8443/"]}, "web"),
    ({"redirect_uris": ["com.example.app:/cb"], "application_type": "native"}, "native"),
    (
        {
            "redirect_uris": ["http://127.0.0.1/cb", "http://[::1]:1234/cb", "https://claimed.example/cb"],
            "application_type": "native",
        },
        "native",
    ),
    ({"redirect_uris": ["http://localhost:33418/callback", "cursor://oauth/callback"]}, "native"),
]


@pytest.mark.parametrize(("members", "kind"), GOOD_URIS)
def test_redirect_uri_fits_the_type(registrar: Registrar, members: dict[str, Any], kind: str) -> None:
    made = registrar.registered(**members)
    assert (made["application_type"], made["redirect_uris"]) == (kind, members["redirect_uris"])


BAD_URIS: list[Any] = [
    None,
    [],
    "https://a.example/cb",
    [1],
    [None],
    [["https://a.example/"]],
    ["https://a.example/cb#part"],
    ["https://a.example/cb#"],
    ["https://*.example/cb"],
    ["http://a.example/cb"],
    ["https://user:pw@a.example/cb"],
    ["/cb"],
    ["//a.example/cb"],
    ["https://"],
    ["https://a.example:99999/"],
    ["http://["],
    ["javascript:alert(1)"],
    ["data:text/html,x"],
    ["mailto:ada@example.test"],
    ["https://a.example/ b"],
    ["https://a.example/" + "x" * 2_000],
    ["https://a.example/cb", "https://a.example/cb"],
    [f"https://a.example/{number}" for number in range(21)],
]


@pytest.mark.parametrize("uris", BAD_URIS)
def test_wrong_redirect_uris_are_refused(registrar: Registrar, uris: Any) -> None:
    assert error_of(registrar.register({**METADATA, "redirect_uris": uris})) == (400, "invalid_redirect_uri")


OWN_ADDRESSES: list[tuple[dict[str, Any], str]] = [
    ({"redirect_uris": ["HOME/ssologin/logout"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["HOME/x"], "application_type": "native"}, "invalid_redirect_uri"),
    ({"redirect_uris": [CALLBACK, "CUSTOM/x"]}, "invalid_redirect_uri"),
    ({"redirect_uris": [CALLBACK, "CUSTOM:8443/x"]}, "invalid_redirect_uri"),
    ({"post_logout_redirect_uris": ["CUSTOM/x"]}, "invalid_client_metadata"),
    ({"initiate_login_uri": "CUSTOM/x"}, "invalid_client_metadata"),
    ({"backchannel_logout_uri": "CUSTOM/x"}, "invalid_client_metadata"),
    ({"redirect_uris": [CALLBACK, "CUSTOM/x"], "frontchannel_logout_uri": "CUSTOM/ssologin/x"}, "invalid_redirect_uri"),
    ({"frontchannel_logout_uri": "CUSTOM/ssologin/logout"}, "invalid_client_metadata"),
]


@pytest.mark.parametrize(("members", "error"), OWN_ADDRESSES)
def test_addresses_of_this_server_are_refused(new_world: NewWorld, members: dict[str, Any], error: str) -> None:
    world = new_world(**OPEN)
    domain = world.add_custom_domain()
    home = world.services.settings.hub_url(world.name)
    text = json.dumps({**METADATA, **members}).replace("HOME", home).replace("CUSTOM", f"https://{domain.upper()}")
    assert error_of(Registrar(world).register(json.loads(text))) == (400, error)


@pytest.mark.parametrize("kind", ["web", "native"])
@pytest.mark.parametrize("uri", ["com.example.app:/cb", "http://shop.example/cb"])
def test_scheme_of_the_other_type_is_refused(registrar: Registrar, kind: str, uri: str) -> None:
    if kind == "native" and uri.startswith("com."):
        return
    answer = registrar.register({"redirect_uris": [uri], "application_type": kind})
    assert error_of(answer) == (400, "invalid_redirect_uri")


ED25519 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
"""The key of RFC 8037 appendix A."""
BAD_METADATA: list[dict[str, Any]] = [
    {"application_type": "spa"},
    {"application_type": "m2m"},
    {"application_type": ["web"]},
    {"grant_types": ["client_credentials"]},
    {"grant_types": ["password"]},
    {"grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:token-exchange"]},
    {"grant_types": []},
    {"grant_types": "authorization_code"},
    {"grant_types": ["refresh_token"]},
    {"response_types": ["none"]},
    {"response_types": {"code": 1}},
    {"token_endpoint_auth_method": "none ", "redirect_uris": [CALLBACK]},
    {"token_endpoint_auth_method": "secret"},
    {"scope": ["openid"]},
    {"client_name": ""},
    {"client_name": " "},
    {"client_name": "x" * 101},
    {"client_name": "Acme\u202egnp.elif"},
    {"client_name": "two\nlines"},
    {"client_name": 7},
    {"client_uri": "javascript:alert(1)"},
    {"client_uri": "ftp://calendar.example"},
    {"policy_uri": "data:text/html,x"},
    {"tos_uri": "https://"},
    {"logo_uri": "data:image/svg+xml,x"},
    {"logo_uri": "https://calendar.example/" + "x" * 13_000},
    {"contacts": ["ada@example.test"] * 11},
    {"contacts": ["x" * 300]},
    {"default_max_age": -1},
    {"default_max_age": "soon"},
    {"require_auth_time": "perhaps"},
    {"default_acr_values": ["a b"]},
    {"default_acr_values": [str(number) for number in range(11)]},
    {"initiate_login_uri": "http://calendar.example/login"},
    {"request_uris": ["http://calendar.example/request"]},
    {"request_uris": [f"https://calendar.example/{number}" for number in range(21)]},
    {"post_logout_redirect_uris": ["https://calendar.example/#bye"]},
    {"jwks": {"keys": []}},
    {"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}},
    {"jwks": "keys"},
    {"jwks": {"keys": [{**ED25519, "x": "AAAA"}]}},
    {"jwks": {"keys": [{"kty": "EC", "crv": "P-256", "x": "AAAA", "y": "AAAA"}]}},
    {"jwks": {"keys": [{**ED25519, "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}]}},
    {"jwks": {"keys": [ED25519]}, "jwks_uri": "https://calendar.example/jwks"},
    {"jwks_uri": "http://169.254.169.254/latest/meta-data"},
    {"jwks_uri": "https://127.0.0.1:9/jwks"},
    {"request_object_signing_alg": "none"},
    {"request_object_signing_alg": "HS256"},
    {"require_signed_request_object": True},
    {"response_modes": "jwt"},
    {"response_modes": ["web_message"]},
    {"response_modes": ["jwt", 7]},
    {"sector_identifier_uri": "http://calendar.example/sector.json"},
    {"sector_identifier_uri": "https://127.0.0.1:9/sector.json"},
    {"sector_identifier_uri": ["https://calendar.example"]},
    {"software_id": "x" * 201},
    {"subject_type": "pairwise", "redirect_uris": ["http://127.0.0.1:5000/cb"], "application_type": "native"},
    {"subject_type": "pairwise", "grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"]},
    {"subject_type": "pairwise", "grant_types": ["urn:ietf:params:oauth:grant-type:device_code"], "redirect_uris": [],
     "jwks": {"keys": [ED25519]}, "sector_identifier_uri": "https://calendar.example/sector.json"},
    {"contacts": ["x" * 200] * 10, "jwks": {"keys": [{"kty": "EC", "x": "x" * 60_000}]}},
]  # fmt: skip


@pytest.mark.parametrize("members", BAD_METADATA, ids=lambda item: json.dumps(item)[:60])
def test_wrong_metadata_are_refused(registrar: Registrar, members: dict[str, Any]) -> None:
    answer = registrar.register({**METADATA, **members})
    assert error_of(answer) == (400, "invalid_client_metadata"), answer.text
    assert len((answer.json or {})["error_description"]) < 700


def test_metadata_have_at_most_60000_bytes(registrar: Registrar) -> None:
    uris = [f"{CALLBACK}/{number}/{'x' * 1_900}" for number in range(20)]
    members = {**METADATA, "redirect_uris": uris, "post_logout_redirect_uris": [*uris[:10], CALLBACK]}
    left = 60_000 - len(json.dumps([members, {}]))
    for length, status in ((left + 1, 400), (left, 201)):
        longest = {**members, "post_logout_redirect_uris": [*uris[:10], CALLBACK + "/" * length]}
        assert registrar.register(longest).status_code == status


NO_OBJECTS: list[bytes] = [
    b"[]",
    b"{",
    b"null",
    b'"x"',
    b"\xff",
    b"[" * 64 + b"]" * 64,
    b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
]


@pytest.mark.parametrize("body", NO_OBJECTS, ids=lambda item: repr(item[:10]))
def test_body_that_is_no_object_is_refused(registrar: Registrar, body: bytes) -> None:
    assert error_of(registrar.register(body)) == (400, "invalid_client_metadata")


def test_large_and_form_encoded_bodies_are_refused(registrar: Registrar) -> None:
    assert error_of(registrar.register({**METADATA, "software_id": "x" * 1_000_000})) == (
        400,
        "invalid_client_metadata",
    )
    answer = registrar.send(
        "POST", "/api/oidc/register", b"client_name=x", content_type="application/x-www-form-urlencoded"
    )
    assert error_of(answer) == (400, "invalid_client_metadata")


def test_deep_members_that_are_not_known_are_ignored(registrar: Registrar) -> None:
    deep: Any = "x"
    for _ in range(64):
        deep = {"a": [deep]}
    assert "extension" not in registrar.registered(extension=deep)
