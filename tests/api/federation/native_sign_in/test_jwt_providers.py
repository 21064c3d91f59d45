"""Apps sign in with JWTs of the tenant's JWT custom providers."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import pytest
from joserfc.jwk import ECKey, OKPKey, RSAKey

from tests.support.fakes.identity_provider import FakeProvider, key
from tests.support.fakes.native_apps import AppServer, an_app, jwt_sender
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = on_one_database
CURVE = ECKey.generate_key("P-256")
EDWARDS = OKPKey.generate_key("Ed25519")


@pytest.fixture
def app(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> AppServer:
    return an_app(new_tenant_server, fake_provider)


def pem(of: RSAKey | ECKey | OKPKey) -> str:
    return of.as_pem(private=False).decode()


def sends(app: AppServer, token: str, **query: Any) -> tuple[int, int]:
    return refused(app.ask("jwt", **{"providername": "Partner", "id_token": token, **query}))


@pytest.mark.parametrize(
    ("members", "signing"),
    [
        ({}, None),
        ({"Algo": "RS256", "Key": pem(key(1))}, key(1)),
        ({"Algo": "PS256", "Key": pem(key(1))}, key(1)),
        ({"Algo": "PS512", "Key": pem(key(1))}, key(1)),
        ({"Algo": "ES256", "Key": pem(CURVE)}, CURVE),
        ({"Algo": "EdDSA", "Key": pem(EDWARDS)}, EDWARDS),
    ],
    ids=["HS256", "RS256", "PS256", "PS512", "ES256", "EdDSA"],
)
def test_jwt_of_stored_provider_signs_in_once(app: AppServer, members: dict[str, Any], signing: Any) -> None:
    token = jwt_sender(app.tenant, **members)
    first = token(key=signing, given_name="Ada")
    profile = app.profile(app.ask("jwt", providername="partner", id_token=first))
    assert (profile["Provider"], profile["FirstName"]) == ("jwt:partner", "Ada")
    again = app.profile(app.ask("jwt", providername="Partner", id_token=token(key=signing)))
    assert (again["Uid"], again["NoOfLogins"]) == (profile["Uid"], 2)
    assert sends(app, first) == (403, 1232)


@pytest.mark.parametrize(
    ("algorithm", "other"),
    [("EdDSA", key(1)), ("EdDSA", CURVE), ("PS256", CURVE), ("PS256", EDWARDS), ("RS256", EDWARDS), ("ES384", CURVE), ("ES256", EDWARDS)],
    ids=lambda item: item if isinstance(item, str) else item.key_type,
)  # fmt: skip
def test_key_of_another_kind_is_refused(app: AppServer, algorithm: str, other: Any) -> None:
    body = {"AppName": "Partner", "Algo": algorithm, "Key": pem(other)}
    refusal = ask(app.tenant, machine(app.tenant, "all"), "POST", "/v2/manage/custom-providers/jwt", body)
    assert refused(refusal) == (400, 7900)
    assert f"for {algorithm}" in refusal.get_json()["Description"]


def test_jwt_as_bearer_token_signs_in(app: AppServer) -> None:
    token = jwt_sender(app.tenant)
    headers = {"Authorization": f"Bearer {token()}"}
    query: dict[str, Any] = {"providername": "Partner", "refresh_token": "any"}
    answered(app.tenant.send("GET", "/api/v2/access_token/jwt", headers=headers, **query))
    assert refused(app.ask("jwt", providername="Partner")) == (400, 908)


def test_mapping_names_the_claims(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Mapping={"person": "ID", "given": "FirstName"})
    profile = app.profile(app.ask("jwt", providername="Partner", id_token=token(person="p-1", given="Augusta")))
    assert (profile["Identities"][0]["ID"], profile["FirstName"]) == ("p-1", "Augusta")
    assert sends(app, token()) == (403, 1231), "sub is another claim then"


def test_subject_is_demanded_where_it_is_mandatory(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Mapping={"person": "ID"}, Subject={"IsMandatory": True})
    assert sends(app, token(person="p-1", sub=None)) == (403, 1231)
    answered(app.ask("jwt", providername="Partner", id_token=token(person="p-1")))


def forged(now: int, algorithm: str, secret: bytes) -> str:
    """Return a token for the RS256 provider that is signed with something else; an empty secret: unsigned."""
    parts = [{"alg": algorithm}, {"sub": "ada-1815", "iat": now, "exp": now + 300}]
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mark = hmac.digest(secret, signed, "sha256") if secret else b""
    return b".".join([signed, urlsafe_b64encode(mark).rstrip(b"=")]).decode()


def test_algorithm_is_the_providers_own(app: AppServer) -> None:
    made, now = jwt_sender(app.tenant, Algo="RS256", Key=pem(key(1))), app.upstream.provider.now
    forgeries = (forged(now, "HS256", pem(key(1)).encode()), forged(now, "none", b""), made(key=key(2)), "a.b.c", "x")
    assert {sends(app, token) for token in forgeries} == {(403, 1232)}
    answered(app.ask("jwt", providername="Partner", id_token=made(key=key(1))))


EXACT: dict[str, Any] = {"MatchValue": True, "IsMandatory": True}
RULES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "issuer": ({"Issuer": {**EXACT, "ExpectedValue": "https://p"}}, {"iss": "https://evil"}, {"iss": "https://p"}),
    "issuer missing": ({"Issuer": {**EXACT, "ExpectedValue": "https://p"}}, {}, {"iss": "https://p"}),
    "audience": ({"Audience": {**EXACT, "ExpectedValues": ["app"]}}, {"aud": "other"}, {"aud": ["x", "app"]}),
    "audience missing": ({"Audience": {**EXACT, "ExpectedValues": ["app"]}}, {}, {"aud": "app"}),
    "expired": ({}, {"exp": 1}, {}),
    "no end": ({}, {"exp": None}, {}),
    "an end that is a text": ({}, {"exp": "9999999999"}, {}),
    "not before": ({}, {"nbf": 9_999_999_999}, {"nbf": 1}),
    "not before missing": ({"NotBefore": {"IsMandatory": True}}, {}, {"nbf": 1}),
    "from the future": ({}, {"iat": 9_999_999_999}, {}),
    "valid for a year": ({}, {"exp": 9_999_999_999}, {}),
    "neither end nor beginning": ({"Expiration": {"IsMandatory": False}}, {"exp": None, "iat": None}, {"exp": None}),
    "old and without an end": ({"Expiration": {"IsMandatory": False}}, {"exp": None, "iat": 1}, {}),
}


CHECKED = {
    "Issuer": {**EXACT, "ExpectedValue": "https://p"},
    "Audience": {**EXACT, "ExpectedValues": ["app"]},
}


@pytest.mark.parametrize(
    ("members", "unchecked"),
    [
        ({}, "iss and aud"),
        ({"Issuer": CHECKED["Issuer"]}, "aud"),
        ({"Audience": CHECKED["Audience"]}, "iss"),
        ({**CHECKED, "Audience": {**CHECKED["Audience"], "IsMandatory": False}}, "aud"),
        ({**CHECKED, "Issuer": {**CHECKED["Issuer"], "MatchValue": False}}, "iss"),
        (CHECKED, ""),
    ],
)
def test_log_names_a_provider_that_accepts_any_token_once(
    app: AppServer, caplog: pytest.LogCaptureFixture, members: dict[str, Any], unchecked: str
) -> None:
    token = jwt_sender(app.tenant, **members)
    for _ in range(3):
        answered(app.ask("jwt", providername="Partner", id_token=token(iss="https://p", aud="app")))
    named = [record.getMessage() for record in caplog.records if "JWT provider" in record.getMessage()]
    assert len(named) == (1 if unchecked else 0)
    start = f"tenant {app.tenant.name}: JWT provider Partner doesn't check {unchecked}, so "
    assert all(item.startswith(start) for item in named)


@pytest.mark.parametrize(("members", "wrong", "right"), RULES.values(), ids=RULES)
def test_claim_that_breaks_a_rule_is_refused(
    app: AppServer, members: dict[str, Any], wrong: dict[str, Any], right: dict[str, Any]
) -> None:
    token = jwt_sender(app.tenant, **members)
    assert sends(app, token(**wrong)) == (403, 1232)
    answered(app.ask("jwt", providername="Partner", id_token=token(**right)))


def test_expired_jwt_is_accepted_for_the_configured_time(app: AppServer) -> None:
    token = jwt_sender(app.tenant, ClockSkew=0, ExpirationTimeDifference=100)
    now = app.upstream.provider.now
    assert sends(app, token(exp=now - 101)) == (403, 1232)
    answered(app.ask("jwt", providername="Partner", id_token=token(exp=now - 90)))


def test_inactive_or_unknown_jwt_provider_is_refused(app: AppServer) -> None:
    token = jwt_sender(app.tenant, IsActive=False)
    assert sends(app, token()) == (403, 1223)
    assert sends(app, token(), providername="Other") == (403, 1223)


def test_names_that_differ_in_case_only_are_refused(app: AppServer) -> None:
    token = jwt_sender(app.tenant)
    answered(app.ask("jwt", providername="Partner", id_token=token()))
    jwt_sender(app.tenant, AppName="PARTNER")
    assert sends(app, token()) == (403, 1223), "one could take the other's identities"


def test_key_set_that_does_not_answer_is_a_provider_error(app: AppServer) -> None:
    token = jwt_sender(app.tenant, Algo="RS256", Key=None, JWKSUrl="https://127.0.0.1:9/keys")
    assert sends(app, token(key=key(1))) == (403, 1000)


def test_provider_of_another_tenant_is_unknown(app: AppServer, new_tenant_server: NewTenantServer) -> None:
    token = jwt_sender(app.tenant)
    other = an_app(new_tenant_server, app.upstream.provider)
    assert sends(other, token()) == (403, 1223)
    foreign = jwt_sender(other.tenant, Key="another key of at least thirty-two bytes")
    assert sends(other, token()) == (403, 1232), "its key is its own"
    assert foreign() != token()


@pytest.mark.parametrize(
    ("domain", "claims", "is_same"),
    [
        ("example.test", {"email_verified": True}, True),
        ("example.test", {"email_verified": False}, False),
        ("example.test", {}, False),
        ("other.test", {"email_verified": True}, False),
        (None, {"email_verified": True}, False),
    ],
)
def test_address_of_own_domain_only_opens_existing_account(
    app: AppServer, domain: str | None, claims: dict[str, Any], is_same: bool
) -> None:
    address = "ada@example.test"
    uid = app.tenant.create(Email=[{"Type": "Primary", "Value": address}], EmailVerified=True)["Uid"]
    token: Callable[..., str] = jwt_sender(app.tenant, Domain=domain)
    profile = app.profile(app.ask("jwt", providername="Partner", id_token=token(email=address, **claims)))
    assert (profile["Uid"] == uid) is is_same
    assert bool(profile["Email"]) is is_same
