"""What the FAPI 2.0 Security Profile demands of settings: a contradiction is refused at its key, wherever it is written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from tests.support.oauth.signed_requests import client_key, public_jwks
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

CLIENTS = "/v2/manage/oauth-clients"
SETTINGS: Mapping[str, Any] = {
    "security_profile": "fapi2",
    "token_endpoint_auth_method": "private_key_jwt",
    "dpop_bound_access_tokens": True,
    "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
}


APPLICATION: Mapping[str, Any] = {
    "name": "bank", "redirect_uris": ["https://bank.example/cb"], "jwks": public_jwks(client_key("ES256")), **SETTINGS,
}  # fmt: skip
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"token_endpoint_auth_method": "client_secret_basic"}, "token_endpoint_auth_method: one of private_key_jwt"),
    (
        {"token_endpoint_auth_method": "none", "grant_types": ["authorization_code"]},
        "token_endpoint_auth_method: one of",
    ),
    ({"dpop_bound_access_tokens": False}, "dpop_bound_access_tokens: true"),
    ({"grant_types": ["urn:ietf:params:oauth:grant-type:device_code"]}, "grant_types: some of"),
    ({"response_types": ["code id_token"], "grant_types": ["authorization_code", "implicit"]}, "grant_types: some of"),
    ({"allow_plain_pkce": True}, "allow_plain_pkce: false"),
    ({"refresh_token_rotation": True}, "refresh_token_rotation: false"),
    ({"refresh_token_reuse_seconds": 10}, "refresh_token_reuse_seconds: 0"),
    ({"redirect_uris": ["http://localhost:3000/cb"]}, "redirect_uris: https addresses"),
    ({"redirect_uris": ["com.example.bank:/cb"]}, "redirect_uris: https addresses"),
    ({"id_token_signed_response_alg": "RS256"}, "id_token_signed_response_alg: one of PS256, ES256, EdDSA, Ed25519"),
    ({"request_object_signing_alg": "RS256"}, "request_object_signing_alg: one of PS256"),
    ({"token_endpoint_auth_signing_alg": "RS256"}, "token_endpoint_auth_signing_alg: one of PS256"),
]


def problems(**changed: Any) -> str:
    """Return the problems that `gatehouse apply` finds in a file with the application."""
    file = {"tenants": [{"name": "acme", "applications": [{**APPLICATION, **changed}]}]}
    try:
        read(json.dumps(file).encode(), "acme.yaml", Path())
    except ConfigurationError as problem:
        return str(problem)
    return ""


@pytest.mark.parametrize(("changed", "named"), CONTRADICTIONS)
def test_contradicting_setting_is_refused_at_its_key(changed: dict[str, Any], named: str) -> None:
    """FAPI 2.0 section 5.3.2"""
    key, _, expected = named.partition(": ")
    assert f"tenants[0].applications[0].{key}: expected {expected}" in problems(**changed)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"id_token_signed_response_alg": "ES256", "refresh_token_rotation": False},
        {"application_type": "native", "redirect_uris": ["http://127.0.0.1/cb", "https://bank.example/cb"]},
        {"require_signed_request_object": True, "request_object_signing_alg": "PS256"},
        *(
            {"require_signed_request_object": True, "response_modes": ["jwt"], **authentication, **binding}
            for authentication in (
                {},
                {"token_endpoint_auth_method": "tls_client_auth", "tls_client_auth_subject_dn": "CN=bank"},
            )
            for binding in ({}, {"dpop_bound_access_tokens": False, "tls_client_certificate_bound_access_tokens": True})
        ),
    ],
)
def test_application_of_the_profile_is_accepted(changed: dict[str, Any]) -> None:
    """FAPI 2.0 section 5.3.2"""
    assert problems(**changed) == ""


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"refresh_token_rotation": False, "dpop_bound_access_tokens": False}, "refresh_token_rotation: true"),
        ({"refresh_token_rotation": False, "token_endpoint_auth_method": "none", "grant_types": ["authorization_code"]},
         "refresh_token_rotation: true"),
        ({"response_types": ["code token"], "grant_types": ["authorization_code", "implicit"]}, "response_types: none with token"),
    ],
)  # fmt: skip
def test_plain_application_needs_bound_tokens_too(changed: dict[str, Any], named: str) -> None:
    """RFC 9700 section 4.14.2: without rotation only for confidential clients with bound tokens; (RFC 9449 section 5)."""
    key, _, expected = named.partition(": ")
    assert f"tenants[0].applications[0].{key}: expected {expected}" in problems(
        **{**changed, "security_profile": "plain"}
    )


@pytest.mark.parametrize("modes", [["web_message"], "jwt", ["jwt "], [""], [None]])
def test_unknown_response_mode_is_refused_at_its_key(modes: Any) -> None:
    assert "tenants[0].applications[0].response_modes" in problems(response_modes=modes)


MANAGED: Mapping[str, Any] = {
    "AppName": "bank", "RedirectURIs": ["https://bank.example/cb"], "SecurityProfile": "fapi2", "DpopBoundAccessTokens": True,
    "TokenEndpointAuthMethod": "private_key_jwt", "Jwks": public_jwks(client_key("ES256")),
}  # fmt: skip


def test_program_registers_an_application_of_the_profile(acme: TenantServer) -> None:
    """FAPI 2.0 section 5.3.2"""
    token = machine(acme, "client:read", "client:create", "client:update")
    made = answered(ask(acme, token, "POST", CLIENTS, dict(MANAGED)))
    assert (made["SecurityProfile"], made["ClientSecret"], made["IdTokenSignedResponseAlg"]) == ("fapi2", None, "PS256")
    changed = answered(ask(acme, token, "PUT", f"{CLIENTS}/bank", {"DisplayName": "Bank"}))
    assert (changed["SecurityProfile"], changed["DisplayName"]) == ("fapi2", "Bank")


def test_program_registers_an_application_of_signed_messages(acme: TenantServer) -> None:
    """FAPI 2.0 Message Signing section 5.3.3"""
    token = machine(acme, "client:read", "client:create", "client:update")
    signed = {"RequireSignedRequestObject": True, "ResponseModes": ["jwt"]}
    made = answered(ask(acme, token, "POST", CLIENTS, {**MANAGED, **signed}))
    assert {name: made[name] for name in signed} == signed
    updated = answered(ask(acme, token, "PUT", f"{CLIENTS}/bank", {"DisplayName": "Bank"}))
    assert {name: updated[name] for name in signed} == signed
    assert refused(ask(acme, token, "PUT", f"{CLIENTS}/bank", {"ResponseModes": ["web_message"]})) == (400, 7900)
    freed = answered(ask(acme, token, "PUT", f"{CLIENTS}/bank", {"ResponseModes": []}))
    assert freed["ResponseModes"] == []


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"TokenEndpointAuthMethod": "client_secret_post"}, "TokenEndpointAuthMethod"),
        ({"DpopBoundAccessTokens": False}, "DpopBoundAccessTokens"),
        ({"RefreshTokenRotation": True}, "RefreshTokenRotation"),
        ({"RequestObjectSigningAlg": "RS256"}, "RequestObjectSigningAlg"),
        ({"RedirectURIs": ["http://localhost/cb"]}, "RedirectURIs"),
    ],
)
def test_program_learns_the_member_that_contradicts(acme: TenantServer, members: dict[str, Any], named: str) -> None:
    """FAPI 2.0 section 5.3.2"""
    token = machine(acme, "client:read", "client:create")
    answer = ask(acme, token, "POST", CLIENTS, {**MANAGED, **members})
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
