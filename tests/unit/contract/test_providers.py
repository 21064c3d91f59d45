"""The addresses that a provider may have, and where they may lead."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from app.contract.federation.connection_completion import is_offered, resolved
from app.contract.federation.connections import NAMES
from app.contract.federation.provider_presets import ProviderPreset, presets
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.platform.outbound.openid_metadata import is_allowed_endpoint
from tests.support.refused_answers.providers import ALL, OAUTH_UPSTREAMS
from tests.support.refused_answers.table import KINDS, cases_of, missing, printed


def configured(**connections: Any) -> TenantSettings:
    return TenantSettings.model_validate({"connections": connections})


def test_known_provider_needs_only_a_key() -> None:
    stored = configured(**{name: {"key": "k"} for name in NAMES}).connections
    complete = {name: resolved(name, connection) for name, connection in stored.items()}
    assert {item.key for item in complete.values()} == {"k"}
    assert {name for name, item in complete.items() if item.trusts_email} == {"google", "github"}
    assert {name for name, item in complete.items() if not item.pkce} == {
        "apple", "foursquare", "linkedin", "paypal", "qq", "sinaweibo", "wechat",
    }  # fmt: skip


def test_every_provider_is_played_by_its_documentation() -> None:
    assert sorted(ALL) == sorted(NAMES) == sorted(presets())
    for name, upstream in OAUTH_UPSTREAMS.items():
        assert set(upstream.documentation) <= set(presets()[name].documentation), name


def test_every_kind_of_provider_has_every_case_of_bad_input() -> None:
    print(printed())
    assert {*NAMES, "custom-openid", "custom-oauth", "custom-jwt", "organization"} == set(KINDS)
    assert missing() == []
    assert sum(len(cases_of(kind)) for kind in KINDS) == 949


@pytest.mark.parametrize("name", NAMES)
def test_data_of_a_provider_have_the_declared_types(name: str) -> None:
    adapter = TypeAdapter(ProviderPreset)
    assert adapter.validate_python(asdict(presets()[name])) == presets()[name]
    assert all(address.startswith("https://") for address in presets()[name].documentation)


@pytest.mark.parametrize(
    "connections",
    [
        {"linkedin": {"key": "k", "pkce": False}}, {"linkedin": {"key": "k", "claims": {"subject": "sub"}}},
        {"salesforce": {"key": "k", "extra_field1": "one"}}, {"live": {"key": "k", "extra_field1": "eu"}},
        {"apple": {"key": "k", "apple": {"team_id": "T"}}}, {"yahoo": {"key": "k", "extra_field2": "two"}},
        {"twitter": {"key": "k", "native_only": True}},
    ],
    ids=str,
)  # fmt: skip
def test_stored_connection_of_an_earlier_version_loads(connections: dict[str, Any]) -> None:
    ((name, stored),) = configured(**connections).connections.items()
    assert is_offered(name, stored) is (name in ("linkedin", "yahoo"))


def test_known_provider_with_own_issuer_must_state_its_trust() -> None:
    stored = configured(google={"key": "k", "issuer": "https://evil.example"}).connections["google"]
    complete = resolved("google", stored)
    assert (complete.title, complete.issuer, bool(complete.trusts_email)) == ("Google", "https://evil.example", False)


@pytest.mark.parametrize(
    "connection",
    [
        {"key": "k"},
        {"key": "", "issuer": "https://id.example"},
        {"issuer": "https://id.example"},
        {"key": "k", "issuer": "http://id.example"},
        {"key": "k", "issuer": "http://localhost.evil.example"},
        {"key": "k", "issuer": "https://id.example?a=b"},
        {"key": "k", "issuer": "https://user:word@id.example"},
        {"key": "k", "issuer": "https://id.example#a"},
        {"key": "k", "issuer": "javascript:alert(1)"},
        {"key": "k", "issuer": "https://id.example", "token_endpoint": "https://id.example/token"},
        {"key": "k", "authorization_endpoint": "https://id.example/a", "token_endpoint": "https://id.example/t"},
        {"key": "k", "issuer": "https://id.example", "claims": {"uid": "sub"}},
        {"key": "k", "issuer": "https://id.example", "secret": "hidden"},
        {"key": "k", "issuer": "https://id.example", "pkce": False},
    ],
    ids=str,
)
def test_connection_without_usable_endpoints_is_refused(connection: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        configured(elsewhere=connection)


@pytest.mark.parametrize("name", ["", "Google", "1st", "a b", "a" * 61, "../a", "ä", "a\n"])
def test_invalid_connection_name_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        configured(**{name: {"key": "k", "issuer": "https://id.example"}})


@pytest.mark.parametrize(
    ("issuer", "place", "is_allowed"),
    [
        ("https://id.example.com", "https://token.example.com/", True),
        ("http://acme.localhost:8000", "http://acme.localhost:8000/token", True),
        ("https://id.example.com", "http://localhost:8000/token", False),
        ("https://id.example.com", "https://acme.localhost/token", False),
        ("https://id.example.com", "http://token.example.com/", False),
        ("https://id.example.com", "//token.example.com/", False),
        ("https://id.example.com", "https://localhost./", False),
        ("https://id.example.com", "https://127.0.0.1/", False),
        ("https://id.example.com", "https://[::1]/", False),
        ("https://id.example.com", "https://2130706433/", False),
        ("https://id.example.com", "https://0x7f.1/", False),
        ("https://10.0.0.5", "https://10.0.0.5/token", True),
    ],
)
def test_public_provider_cannot_have_local_endpoints(issuer: str, place: str, is_allowed: bool) -> None:
    assert is_allowed_endpoint(issuer, place) is is_allowed


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("settings: {connections: {google: {key: k}}}", "settings.connections"),
        ("connections: {Google: {key: k}}", "connections.Google"),
        ("connections: {google: {secret: hidden}}", "connections.google.key"),
        ("connections: {mine: {key: k, secret: hidden}}", "connections.mine: expected an issuer, or"),
        ("connections: {mine: {key: k, issuer: 'http://id.example.com', secret: hidden}}", "connections.mine.issuer"),
        ("connections: {google: {key: k, secret: [hidden]}}", "connections.google.secret"),
        ("connections: {google: {key: k, claims: {uid: sub}}}", "connections.google.claims"),
        ("connections: [google]", "connections"),
    ],
)
def test_impossible_connection_in_a_file_is_named(tmp_path: Path, line: str, named: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read(f"tenants:\n  - name: acme\n    {line}\n".encode(), "acme.yaml", tmp_path)
    reported = "\n".join(str(problem) for problem in refused.value.problems)
    assert named in reported, reported
    assert "hidden" not in reported
