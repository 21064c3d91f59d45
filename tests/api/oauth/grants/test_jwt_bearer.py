"""Assertions of trusted issuers as grants (RFC 7523 sections 2.1 and 3)."""

from __future__ import annotations

import base64
import hmac
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from joserfc.jwk import RSAKey
from sqlalchemy import insert

from app.contract.applications.file import JWT_BEARER
from app.identity.directory.accounts.identifiers import identity_value
from app.identity.directory.accounts.tables import identifiers
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.assertion_issuers import KEYS, Hr, bears, error, trusting
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.signed_requests import client_key, part, public_jwks
from tests.support.oauth.world import NewWorld, World


@pytest.fixture
def payroll(world: World) -> RelyingParty:
    return trusting(world)


@pytest.fixture
def hr(payroll: RelyingParty) -> Hr:
    return Hr(payroll)


def test_assertion_gets_an_access_token_of_its_subject(payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    answer = bears(payroll, hr.assertion(sub=ada.uid), scope="openid email offline_access")
    assert answer.status_code == 200, answer.text
    body = answer.json or {}
    claims = claims_in(body["access_token"])
    assert (claims["sub"], claims["aud"], body["scope"]) == (ada.uid, payroll.client_id, "openid email")
    assert {"refresh_token", "id_token"}.isdisjoint(body)
    assert "auth_time" not in claims, "the person authenticated at the issuer"
    assert (payroll.userinfo(body["access_token"]).json or {})["email"] == ada.email


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_assertion_is_used_once(payroll: RelyingParty, ada: Person, algorithm: str) -> None:
    key = client_key("RS256", "2") if algorithm == "RS256" else client_key("ES256")
    assertion = Hr(payroll, algorithm, key).assertion(sub=ada.uid)
    assert bears(payroll, assertion).status_code == 200
    assert error(bears(payroll, assertion)) == (400, "invalid_grant")


def test_jti_in_a_newer_assertion_is_refused(payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    """RFC 7523 section 3: the `jti` counts once for the issuer, whatever times stand beside it."""
    now = int(payroll.services.clock.now().timestamp())
    sent = [
        hr.assertion(sub=ada.uid, jti="chosen", exp=now + 60 + 30 * number, iat=now + number) for number in range(3)
    ]
    assert [bears(payroll, item).status_code for item in sent] == [200, 400, 400]


@pytest.mark.both_databases
def test_of_twenty_uses_at_once_one_gets_a_token(payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    assertion = hr.assertion(sub=ada.uid)
    with ThreadPoolExecutor(20) as pool:
        answers = sorted(pool.map(lambda _: bears(payroll, assertion).status_code, range(20)))
    assert answers == [200, *[400] * 19]


def test_token_endpoint_and_registered_audience_are_accepted(world: World, ada: Person) -> None:
    client = trusting(world, audience="urn:hr:gatehouse").at_own_issuer()
    hr = Hr(client)
    endpoint = f"{client.hub_url}/api/oidc/{client.name}/token"
    for audience in (endpoint, client.issuer, client.hub_url, "urn:hr:gatehouse", ["https://other.example", endpoint]):
        assert bears(client, hr.assertion(sub=ada.uid, aud=audience)).status_code == 200, audience


WRONG: dict[str, dict[str, Any]] = {
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "another audience": {"aud": "https://other.example"},
    "no audience": {"aud": None},
    "an audience that is an object": {"aud": {"a": 1}},
    "expired": {"exp": 1},
    "no end": {"exp": None},
    "an end that is a text": {"exp": "9999999999"},
    "valid for a year": {"exp": 9_999_999_999},
    "not yet valid": {"nbf": 9_999_999_999},
    "from the future": {"iat": 9_999_999_999},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "a subject that is a list": {"sub": ["x"]},
    "no id": {"jti": None},
    "a long id": {"jti": "x" * 300},
    "an id that is a number": {"jti": 7},
}


def test_wrong_claim_is_refused(payroll: RelyingParty, hr: Hr, ada: Person, subtests: pytest.Subtests) -> None:
    for case, changed in WRONG.items():
        with subtests.test(case):
            answer = bears(payroll, hr.assertion(**{"sub": ada.uid, **changed}))
            assert error(answer) == (400, "invalid_grant")
            assert str(answer.get_json()["error_description"]) == f"The assertion is not valid: {next(iter(changed))}."


def test_signature_must_be_by_a_registered_key(payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    good = hr.assertion(sub=ada.uid)
    head, body, mark = good.split(".")
    public = json.dumps(KEYS["keys"][0]).encode()
    unsigned = part({"alg": "none"})
    confused = part({"alg": "HS256"})
    hmac_mark = (
        base64.urlsafe_b64encode(hmac.digest(public, f"{confused}.{body}".encode(), "sha256")).decode().rstrip("=")
    )
    other = client_key("ES256", "other")
    embedded = {"jwk": dict(other.as_dict(private=False)), "kid": None}
    attacks = [
        Hr(payroll, key=other).assertion(sub=ada.uid),
        Hr(payroll, header={"kid": "unknown"}).assertion(sub=ada.uid),
        Hr(payroll, header={"crit": ["exp"], "exp": 1}).assertion(sub=ada.uid),
        Hr(payroll, header={"typ": "at+jwt"}).assertion(sub=ada.uid),
        Hr(payroll, header={"typ": ["JWT"]}).assertion(sub=ada.uid),
        Hr(payroll, header=embedded, key=other).assertion(sub=ada.uid),
        f"{unsigned}.{body}.",
        f"{confused}.{body}.{hmac_mark}",
        f"{head}.{body}.{mark[:-4]}AAAA",
        f"{head}.{part({'sub': ada.uid})}.{mark}",
        f"{head}.{'W10'}.{mark}",
        "a.b.c", "x", ".", "..", "x" * 20_000, good + "." + mark,
    ]  # fmt: skip
    for attack in attacks:
        assert error(bears(payroll, attack)) == (400, "invalid_grant"), attack[:80]
    assert error(bears(payroll, None)) == (400, "invalid_request")
    assert bears(payroll, good).status_code == 200


@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_weak_key_at_the_issuers_address_does_not_count(world: World, ada: Person, fake_provider: FakeProvider) -> None:
    small = RSAKey.generate_key(1024, {"kid": "small"})
    published = json.dumps(public_jwks(small, client_key("ES256"))).encode()
    fake_provider.answers["/hr"] = (200, {"Content-Type": "application/json"}, published)
    client = trusting(world, jwks=None, jwks_uri=f"{fake_provider.url}/hr")
    assert bears(client, Hr(client).assertion(sub=ada.uid)).status_code == 200
    weak = Hr(client, "RS256", small).assertion(sub=ada.uid)
    assert error(bears(client, weak)) == (400, "invalid_grant")


def test_access_token_of_ours_is_no_assertion(world: World, payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    body = bears(payroll, hr.assertion(sub=ada.uid)).json or {}
    assert error(bears(payroll, body["access_token"])) == (400, "invalid_grant")


@pytest.mark.both_databases
def test_email_names_an_account_with_that_verified_address(world: World, ada: Person) -> None:
    client = trusting(world, subject="email")
    hr = Hr(client)
    body = bears(client, hr.assertion(sub="hr-17", email="ADA@example.test")).json or {}
    assert claims_in(body["access_token"])["sub"] == ada.uid
    assert error(bears(client, hr.assertion(sub=ada.uid)))[1] == "invalid_grant"
    assert error(bears(client, hr.assertion(email="absent@example.test")))[1] == "invalid_grant", (
        "no account is created"
    )
    ada.set_columns(email_verified=False)
    assert error(bears(client, hr.assertion(email=ada.email)))[1] == "invalid_grant"


def test_linked_identity_names_its_account(world: World, ada: Person) -> None:
    client = trusting(world, subject="identity", connection="hr")
    row = {
        "tenant_id": world.tenant_id,
        "kind": "identity",
        "value": identity_value("hr", "17"),
        "uid": ada.uid,
        "is_verified": True,
    }
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        work.run(insert(identifiers), row)
    hr = Hr(client)
    assert error(bears(client, hr.assertion(sub="18")))[1] == "invalid_grant"
    answer = bears(client, hr.assertion(sub="17"))
    assert answer.status_code == 200, answer.text
    assert claims_in((answer.json or {})["access_token"])["sub"] == ada.uid


def test_account_that_may_not_sign_in_gets_nothing(payroll: RelyingParty, hr: Hr, ada: Person) -> None:
    ada.close()
    assertion = hr.assertion(sub=ada.uid)
    assert error(bears(payroll, assertion)) == (400, "invalid_grant")
    ada.set_columns(is_active=True)
    assert bears(payroll, assertion).status_code == 200, "a refusal does not spend it"


def test_only_registered_confidential_clients_bear_assertions(
    world: World, payroll: RelyingParty, shop: RelyingParty, hr: Hr, ada: Person
) -> None:
    assertion = hr.assertion(sub=ada.uid)
    assert error(bears(shop, assertion)) == (403, "unauthorized_client")
    other = world.application("other", grant_types=[JWT_BEARER], redirect_uris=[])
    assert error(bears(other, assertion)) == (400, "invalid_grant"), "its own issuers count"
    public = world.application("public", secret=None, grant_types=[JWT_BEARER], redirect_uris=[])
    assert error(bears(public, assertion)) == (403, "unauthorized_client")
    assert error(bears(payroll, assertion, scope="account:write")) == (400, "invalid_scope")
    assert error(bears(payroll, assertion, resource="https://x.example")) == (400, "invalid_target")


@pytest.mark.both_databases
def test_foreign_tenants_account_is_refused(new_world: NewWorld, payroll: RelyingParty, hr: Hr) -> None:
    outsider = new_world().person("ada@example.test")
    assert error(bears(payroll, hr.assertion(sub=outsider.uid))) == (400, "invalid_grant")


def test_keys_that_cannot_be_fetched_refuse_the_assertion(world: World, ada: Person) -> None:
    client = trusting(world, jwks=None, jwks_uri="https://127.0.0.1:9/jwks")
    assert error(bears(client, Hr(client).assertion(sub=ada.uid))) == (400, "invalid_grant")
