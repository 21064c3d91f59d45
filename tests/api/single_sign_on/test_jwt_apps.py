"""Management of JWT clients and JWT custom providers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from app.contract.published.openapi import openapi_document
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

CLIENTS, PROVIDERS = "/v2/manage/jwt-clients", "/v2/manage/custom-providers/jwt"
SCOPES = tuple(
    f"{kind}:{action}" for kind in ("client", "provider") for action in ("read", "create", "update", "delete")
)
SECRET = "a secret of at least thirty-two bytes"
RSA = rsa.generate_private_key(65537, 2048)
SHORT = rsa.generate_private_key(65537, 1024)
CURVE = ec.generate_private_key(ec.SECP256R1())
Ask = Callable[..., Any]


def private(key: Any) -> str:
    return str(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode())


def public(key: Any) -> str:
    return str(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def asking(tenant: TenantServer) -> Ask:
    token = machine(tenant, *SCOPES, "all")
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


@pytest.fixture
def send(acme: TenantServer) -> Ask:
    return asking(acme)


@pytest.mark.both_databases
def test_client_is_created_masked_changed_and_deleted(send: Ask) -> None:
    body = {"AppName": "Shop", "Algo": "HS256", "Secret": SECRET, "Mapping": {"mail": "Email"}, "Audience": ["shop"]}
    made = answered(send("POST", CLIENTS, body))
    assert (made["AppName"], made["Secret"], made["ResponseMode"], made["NotAfterDifference"]) == (
        "Shop",
        "********",
        "query",
        600,
    )
    assert refused(send("POST", CLIENTS, body)) == (409, 7960)
    assert answered(send("GET", f"{CLIENTS}/Shop")) == made
    assert [item["AppName"] for item in answered(send("GET", CLIENTS))["Data"]] == ["Shop"]
    changed = answered(send("PUT", f"{CLIENTS}/Shop", {**made, "LoginUrl": "https://shop.example/in"}))
    assert (changed["LoginUrl"], changed["Secret"]) == ("https://shop.example/in", "********")
    assert answered(send("DELETE", f"{CLIENTS}/Shop")) == {"IsDeleted": True}
    assert refused(send("GET", f"{CLIENTS}/Shop")) == refused(send("DELETE", f"{CLIENTS}/Shop")) == (404, 7958)
    assert refused(send("PUT", f"{CLIENTS}/Shop", body)) == (404, 7958)


def test_algorithms_are_listed(send: Ask) -> None:
    assert len(answered(send("GET", f"{CLIENTS}/algorithms"))["Data"]) == 9
    assert refused(send("POST", CLIENTS, {"AppName": "algorithms", "Secret": SECRET})) == (400, 7900)


@pytest.mark.parametrize(
    ("algorithm", "key", "is_good"),
    [
        ("HS256", SECRET, True), ("HS512", SECRET, False), ("HS256", None, False), ("HS256", "short", False),
        ("RS256", private(RSA), True), ("RS256", public(RSA), False), ("RS256", private(SHORT), False),
        ("RS256", private(CURVE), False), ("RS256", SECRET, False), ("ES256", private(CURVE), True),
        ("ES384", private(CURVE), False), ("none", SECRET, False),
    ],
)  # fmt: skip
def test_key_of_client_fits_its_algorithm(send: Ask, algorithm: str, key: str | None, is_good: bool) -> None:
    answer = send("POST", CLIENTS, {"AppName": "Shop", "Algo": algorithm, "Secret": key})
    if is_good:
        assert answered(answer)["Algo"] == algorithm
        return
    assert refused(answer) == (400, 7900)
    assert refused(send("GET", f"{CLIENTS}/Shop")) == (404, 7958)


def test_long_rsa_key_of_client_is_refused(send: Ask) -> None:
    """To validate one of 8,192 bits takes 3 s of CPU."""
    long = private(rsa.generate_private_key(65537, 4160))
    answer = send("POST", CLIENTS, {"AppName": "Shop", "Algo": "RS256", "Secret": long})
    assert refused(answer) == (400, 7900)
    assert "an RSA key of 2048 to 4096 bits" in (answer.get_json() or {})["Description"]


def test_changed_algorithm_needs_a_fitting_key(send: Ask) -> None:
    answered(send("POST", CLIENTS, {"AppName": "Shop", "Secret": SECRET}))
    assert refused(send("PUT", f"{CLIENTS}/Shop", {"Algo": "RS256"})) == (400, 7900)
    assert answered(send("GET", f"{CLIENTS}/Shop"))["Algo"] == "HS256"


def test_provider_has_a_key_or_an_address_of_keys(send: Ask) -> None:
    base = {"AppName": "Partner", "Algo": "RS256", "Domain": "partner.example"}
    assert refused(send("POST", PROVIDERS, base)) == (400, 7900)
    assert refused(send("POST", PROVIDERS, {**base, "Key": private(RSA)})) == (400, 7900)
    made = answered(send("POST", PROVIDERS, {**base, "Key": public(RSA)}))
    assert (made["Key"], made["Issuer"]["IsMandatory"], made["Expiration"]) == (
        "********",
        False,
        {"IsMandatory": True},
    )
    fetched = {**base, "AppName": "Other", "Domain": None, "JWKSUrl": "https://partner.example/keys"}
    assert answered(send("POST", PROVIDERS, fetched))["JWKSUrl"] == "https://partner.example/keys"
    assert refused(send("POST", PROVIDERS, {**fetched, "AppName": "Third", "Algo": "HS256"})) == (400, 7900)


@pytest.mark.both_databases
def test_domain_belongs_to_one_provider(send: Ask) -> None:
    base = {"Algo": "RS256", "Key": public(RSA), "Domain": "partner.example"}
    answered(send("POST", PROVIDERS, {**base, "AppName": "One"}))
    assert refused(send("POST", PROVIDERS, {**base, "AppName": "Two"})) == (409, 8038)
    answered(send("POST", PROVIDERS, {**base, "AppName": "Two", "Domain": "other.example"}))
    assert refused(send("PUT", f"{PROVIDERS}/Two", base)) == (409, 8038)
    assert answered(send("PUT", f"{PROVIDERS}/One", base))["Domain"] == "partner.example"


MALFORMED_FIELD = [
    (CLIENTS, "AppName", "1 shop"), (CLIENTS, "AppName", "x" * 61), (CLIENTS, "LoginUrl", "javascript:x"),
    (CLIENTS, "Mapping", {"mail": "NoSuchField"}), (CLIENTS, "NotAfterDifference", -1), (CLIENTS, "ResponseMode", "fax"),
    (CLIENTS, "QueryStringParameter", "a b"), (CLIENTS, "Audience", "shop"), (PROVIDERS, "JWKSUrl", "http://x.example"),
    (PROVIDERS, "Domain", "not a domain"), (PROVIDERS, "ClockSkew", 86_401), (PROVIDERS, "Mapping", {"a": "x"}),
    (PROVIDERS, "Mapping", {"Email": "mail"}), (PROVIDERS, "Mapping", {"phone": "PhoneId"}), (PROVIDERS, "Mapping", {"role": "Roles"}),
    (PROVIDERS, "Mapping", {"verified": "EmailVerified"}), (PROVIDERS, "Mapping", {"mail": "Email", "email": "Email"}),
]  # fmt: skip


def test_malformed_field_is_named(send: Ask, subtests: pytest.Subtests) -> None:
    for path, member, value in MALFORMED_FIELD:
        with subtests.test(str((path, member, value))[:60]):
            body = {"AppName": "Shop", "Algo": "HS256", "Secret" if path == CLIENTS else "Key": SECRET, member: value}
            answer = send("POST", path, body)
            assert (*refused(answer), member in answer.text) == (400, 7900, True)


def test_reference_reads_mapping_from_claim_to_field() -> None:
    schemas = openapi_document("https://api.example", "https://{tenant}.example")["components"]["schemas"]
    described = {name: schemas[name]["properties"]["Mapping"]["description"] for name in ("JwtClient", "JwtProvider")}
    for name, words in described.items():
        assert words.startswith("The profile field "), (name, words)
        assert "claim" in words


@pytest.mark.both_databases
def test_other_tenant_sees_and_changes_nothing(acme: TenantServer, globex: TenantServer) -> None:
    answered(asking(acme)("POST", CLIENTS, {"AppName": "Shop", "Secret": SECRET}))
    other = asking(globex)
    assert answered(other("GET", CLIENTS)) == {"Data": []}
    for method in ("GET", "DELETE"):
        assert refused(other(method, f"{CLIENTS}/Shop")) == (404, 7958)


@pytest.mark.both_databases
def test_one_of_two_concurrent_creations_succeeds(send: Ask) -> None:
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda _: send("POST", CLIENTS, {"AppName": "Shop", "Secret": SECRET}), range(2)))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
