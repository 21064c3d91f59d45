"""Clients that authenticate with a signed JWT (RFC 7523 sections 2.2 and 3, OpenID Connect Core section 9)."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from joserfc.jwk import OctKey
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.administration.reencryption import reencrypt
from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.directory.tenants.tables import applications
from app.identity.platform.continuation_tokens import token_table as marks
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, moved
from tests.support.oauth.signed_requests import ASSERTION_TYPE, Signer, client_key, part, public_jwks
from tests.support.oauth.world import World

MACHINE = {"grant_type": "client_credentials"}
SECRET = "a secret of 32 bytes or more, to sign with"
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "Ed25519")


def replied(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "")


@pytest.fixture
def keyed(world: World) -> RelyingParty:
    """A client with keys, one for each algorithm."""
    keys = [client_key(algorithm) for algorithm in ("RS256", "ES256", "EdDSA")]
    return world.application(
        "keyed",
        secret=None,
        token_endpoint_auth_method="private_key_jwt",
        jwks=public_jwks(*keys, client_key("PS256")),
        grant_types=["authorization_code", "refresh_token", "client_credentials"],
    )


@pytest.fixture
def signer(keyed: RelyingParty) -> Signer:
    return Signer(keyed)


@pytest.fixture
def sharing(world: World) -> RelyingParty:
    """A client that signs with its secret."""
    return world.application(
        "sharing",
        secret=SECRET,
        token_endpoint_auth_method="client_secret_jwt",
        grant_types=["authorization_code", "client_credentials"],
    )


def by_secret(client: RelyingParty, secret: str = SECRET) -> Signer:
    return Signer(client, "HS256", OctKey.import_key(secret))


def ask(client: RelyingParty, *forms: dict[str, str]) -> TestResponse:
    merged = MACHINE | {name: value for form in forms for name, value in form.items()}
    return client.back("token", merged)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_client_authenticates_with_its_key(keyed: RelyingParty, algorithm: str) -> None:
    answer = ask(keyed, Signer(keyed, algorithm).assertion())
    assert answer.status_code == 200, answer.text


def test_client_authenticates_with_signature_of_its_secret(sharing: RelyingParty) -> None:
    assert ask(sharing, by_secret(sharing).assertion()).status_code == 200
    assert replied(ask(sharing, by_secret(sharing, "another secret of 32 bytes or more").assertion()))[0] == 401


def test_code_is_redeemed_and_refreshed_with_assertions(
    keyed: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    form = {"grant_type": "authorization_code", "code": browser.code(keyed, ada), "redirect_uri": keyed.redirect_uri}
    body = keyed.back("token", {**form, **signer.assertion()}).json or {}
    refresh = {"grant_type": "refresh_token", "refresh_token": body["refresh_token"]}
    assert keyed.back("token", {**refresh, **signer.assertion()}).status_code == 200


def test_assertion_authenticates_at_every_endpoint_of_clients(
    world: World, keyed: RelyingParty, signer: Signer, browser: Browser, ada: Person
) -> None:
    assert keyed.back("par", {**keyed.authorization_parameters(), **signer.assertion()}).status_code == 201
    token = (ask(keyed, signer.assertion()).json or {})["access_token"]
    shown = keyed.back("introspect", {"token": token, **signer.assertion()}).json or {}
    assert (shown["active"], shown["client_id"]) == (True, keyed.client_id)
    assert keyed.back("revoke", {"token": token, **signer.assertion()}).status_code == 200
    assert (keyed.back("introspect", {"token": token, **signer.assertion()}).json or {}) == {"active": False}
    world.change(keyed, grant_types=["urn:ietf:params:oauth:grant-type:device_code"])
    assert keyed.back("device", signer.assertion()).status_code == 200
    for path in ("par", "introspect", "revoke", "device", "token"):
        forged = Signer(keyed, key=client_key("ES256", "another")).assertion()
        form = {**keyed.authorization_parameters(), "token": "x", **MACHINE, **forged}
        assert replied(keyed.back(path, form)) == (401, "invalid_client"), path


@pytest.mark.both_databases
def test_pushed_request_does_not_keep_the_assertion(
    world: World, keyed: RelyingParty, signer: Signer, services: IdentityServices
) -> None:
    sent = signer.assertion()
    keyed.back("par", {**keyed.authorization_parameters(), **sent})
    (facts,) = [row.facts for row in used_marks(services, world) if row.purpose == "pushed_request"]
    assert not {"client_assertion", "client_assertion_type"} & facts["parameters"].keys()


def used_marks(services: IdentityServices, world: World) -> list[Any]:
    work = UnitOfWork(services.database, world.tenant_id)
    try:
        return list(work.all(select(marks).where(marks.c.tenant_id == world.tenant_id)))
    finally:
        work.rollback()


def test_client_id_beside_the_assertion_must_be_its_subject(keyed: RelyingParty, signer: Signer) -> None:
    """RFC 7521 section 4.2."""
    assert ask(keyed, signer.assertion(), {"client_id": keyed.client_id}).status_code == 200
    assert replied(ask(keyed, signer.assertion(), {"client_id": "another"})) == (401, "invalid_client")


def audiences_of(client: RelyingParty, endpoint: str) -> list[Any]:
    own = f"{client.hub_url}/api/oidc/{endpoint}"
    return [client.issuer, own, f"{client.hub_url}/api/oidc/token", [client.issuer], [client.issuer, own]]


@pytest.mark.parametrize("endpoint", ["token", "par", "introspect"])
def test_audience_is_the_issuer_or_an_endpoint(keyed: RelyingParty, signer: Signer, endpoint: str) -> None:
    """RFC 7523 section 3, RFC 9126 section 2."""
    for audience in audiences_of(keyed, endpoint):
        parameters = keyed.authorization_parameters() if endpoint == "par" else {"token": "x", **MACHINE}
        assert keyed.back(endpoint, {**parameters, **signer.assertion(aud=audience)}).status_code in (200, 201), (
            audience
        )


WRONG_AUDIENCES: list[Any] = [
    None, "", [], "https://another.example", ["https://another.example"], 7, {}, [7], "keyed", "/api/oidc/token",
]  # fmt: skip


@pytest.mark.parametrize("audience", WRONG_AUDIENCES, ids=str)
def test_assertion_for_another_server_is_refused(keyed: RelyingParty, signer: Signer, audience: Any) -> None:
    assert replied(ask(keyed, signer.assertion(aud=audience))) == (401, "invalid_client")


def test_fapi_application_names_the_issuer_alone(world: World, signer: Signer, keyed: RelyingParty) -> None:
    """FAPI 2.0 Security Profile section 5.3.2.1: the issuer, as one text."""
    world.change(keyed, security_profile="fapi2")
    for audience in audiences_of(keyed, "par"):
        answer = keyed.back("introspect", {"token": "x", **signer.assertion(aud=audience)})
        assert answer.status_code == (200 if audience == keyed.issuer else 401), audience


def test_audience_beside_ours_is_refused(keyed: RelyingParty, signer: Signer, foreign_shop: RelyingParty) -> None:
    """An assertion that another server could present here, or we there, is for neither (RFC 7523 section 3)."""
    for other in ("https://another.example", foreign_shop.issuer):
        assert replied(ask(keyed, signer.assertion(aud=[keyed.issuer, other]))) == (401, "invalid_client")


WRONG_CLAIMS: list[dict[str, Any]] = [
    {"iss": "another"}, {"iss": None}, {"exp": None}, {"exp": 1_000_000_000}, {"exp": 99_999_999_999}, {"exp": "soon"},
    {"exp": True}, {"exp": 1e400}, {"nbf": 99_999_999_999}, {"nbf": "x"}, {"iat": 99_999_999_999}, {"iat": []}, {"jti": None},
    {"jti": ""}, {"jti": 7}, {"jti": "x" * 501},
]  # fmt: skip


def test_assertion_with_wrong_claims_is_refused(keyed: RelyingParty, signer: Signer, subtests: pytest.Subtests) -> None:
    """RFC 7523 section 3, rules 1 to 7."""
    for changed in WRONG_CLAIMS:
        with subtests.test(str(changed)[:60]):
            assert replied(ask(keyed, signer.assertion(**changed))) == (401, "invalid_client")
            assert ask(keyed, signer.assertion()).status_code == 200


def test_sub_must_name_a_client(keyed: RelyingParty, signer: Signer, shop: RelyingParty) -> None:
    for named in (None, "", 7, "absent", "x" * 200, shop.client_id):
        assert replied(ask(keyed, signer.assertion(sub=named))) == (401, "invalid_client"), named
    assert replied(ask(keyed, signer.assertion(sub=shop.client_id, iss=shop.client_id))) == (401, "invalid_client")


def test_skew_of_a_minute_is_allowed(services: IdentityServices, keyed: RelyingParty, signer: Signer) -> None:
    now = int(services.clock.now().timestamp())
    for good in ({"exp": now - 50}, {"nbf": now + 50}, {"iat": now + 50}, {"iat": None, "nbf": None}):
        assert ask(keyed, signer.assertion(**good)).status_code == 200, good
    for wrong in ({"exp": now - 70}, {"nbf": now + 70}, {"iat": now + 70}, {"exp": now + 3_700}):
        assert replied(ask(keyed, signer.assertion(**wrong))) == (401, "invalid_client"), wrong


def test_assertion_is_used_once(services: IdentityServices, keyed: RelyingParty, signer: Signer) -> None:
    """RFC 7523 section 3, rule 7; also at another endpoint, and after a request that was refused."""
    sent = signer.assertion()
    assert ask(keyed, sent).status_code == 200
    assert replied(ask(keyed, sent)) == (401, "invalid_client")
    assert replied(keyed.back("introspect", {"token": "x", **sent})) == (401, "invalid_client")
    refused = signer.assertion()
    assert replied(ask(keyed, refused, {"grant_type": "magic"}))[0] == 400
    assert replied(ask(keyed, refused)) == (401, "invalid_client")
    with moved(services, seconds=115):
        assert replied(ask(keyed, sent)) == (401, "invalid_client")
    again = signer.assertion(jti="chosen by the client")
    other = signer.assertion(jti="chosen by the client", exp=int(services.clock.now().timestamp()) + 100)
    assert ask(keyed, again).status_code == 200
    assert replied(ask(keyed, other)) == (401, "invalid_client"), "another JWT with the same jti"


@pytest.mark.both_databases
def test_of_20_uses_at_once_one_succeeds(keyed: RelyingParty, signer: Signer) -> None:
    sent = signer.assertion()
    with ThreadPoolExecutor(20) as pool:
        answers = [item.result() for item in [pool.submit(ask, keyed, sent) for _ in range(20)]]
    assert [answer.status_code for answer in answers].count(200) == 1
    assert {answer.status_code for answer in answers} <= {200, 401, 429}


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_used_assertions_are_forgotten_when_they_expire(
    services: IdentityServices, world: World, keyed: RelyingParty, signer: Signer
) -> None:
    ask(keyed, signer.assertion())
    assert [row.purpose for row in used_marks(services, world)].count("client_assertion") == 1
    clean(services.database, services.clock.now())
    assert [row.purpose for row in used_marks(services, world)].count("client_assertion") == 1
    with moved(services, days=2):
        clean(services.database, services.clock.now())
    assert not used_marks(services, world)


def test_two_clients_may_choose_the_same_jti(world: World, signer: Signer) -> None:
    other = world.application(
        "other", secret=None, token_endpoint_auth_method="private_key_jwt", jwks=public_jwks(client_key("ES256")),
        grant_types=["client_credentials"],
    )  # fmt: skip
    assert ask(signer.client, signer.assertion(jti="1")).status_code == 200
    assert ask(other, Signer(other).assertion(jti="1")).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        {"crit": ["exp"]}, {"crit": []}, {"crit": ["b64"], "b64": True}, {"typ": "at+jwt"}, {"typ": "dpop+jwt"}, {"typ": 5},
        {"typ": "oauth-authz-req+jwt"}, {"typ": "logout+jwt"},
    ],
    ids=str,
)  # fmt: skip
def test_another_kind_of_token_is_refused(keyed: RelyingParty, signer: Signer, header: dict[str, Any]) -> None:
    """RFC 7515 section 4.1.11, RFC 8725 section 3.11."""
    signer.assertion_header = header
    assert replied(ask(keyed, signer.assertion())) == (401, "invalid_client")


@pytest.mark.parametrize("kind", [None, "JWT", "jwt", "client-authentication+jwt"])
def test_common_kinds_are_accepted(keyed: RelyingParty, signer: Signer, kind: str | None) -> None:
    signer.assertion_header = {"typ": kind}
    assert ask(keyed, signer.assertion()).status_code == 200


def test_algorithm_confusion_is_refused(keyed: RelyingParty, sharing: RelyingParty, signer: Signer) -> None:
    """RFC 8725 section 3.1: a public key is no shared secret, and a secret no key."""
    public = json.dumps(public_jwks(client_key("RS256"))["keys"][0])
    assert replied(ask(keyed, by_secret(keyed, public).assertion())) == (401, "invalid_client")
    assert replied(ask(sharing, Signer(sharing).assertion())) == (401, "invalid_client")
    hs512 = Signer(sharing, "HS512", OctKey.import_key(SECRET))
    assert replied(ask(sharing, hs512.assertion())) == (401, "invalid_client")
    header, payload, signature = signer.assertion()["client_assertion"].split(".")
    none = part({"alg": "none"})
    for forged in (
        f"{none}.{payload}.",
        f"{none}.{payload}.{signature}",
        f"{header}.{payload}.",
        f"{header}.{payload}",
    ):
        form = {"client_assertion_type": ASSERTION_TYPE, "client_assertion": forged}
        assert replied(ask(keyed, form)) == (401, "invalid_client"), forged[:40]


def test_registered_algorithm_is_the_only_one(world: World, keyed: RelyingParty) -> None:
    world.change(keyed, token_endpoint_auth_signing_alg="PS256")
    assert ask(keyed, Signer(keyed, "PS256").assertion()).status_code == 200
    for algorithm in ("RS256", "ES256", "EdDSA"):
        assert replied(ask(keyed, Signer(keyed, algorithm).assertion())) == (401, "invalid_client")


MALFORMED = [
    "x", "..", "a.b.c", "W10.W10.W10", "x" * 60_000, part({"alg": "ES256"}) + "." + "[" * 20_000 + ".x", "e30.e30.e30", "ü.ü.ü",
    part({"alg": "ES256"}) + "." + part([1]) + ".x", part({"alg": "ES256"}) + "." + part({"sub": "keyed"}) + ".x", "%00.%00.x",
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:12])
def test_malformed_assertion_is_refused(keyed: RelyingParty, text: str) -> None:
    answer = ask(keyed, {"client_assertion_type": ASSERTION_TYPE, "client_assertion": text})
    assert replied(answer) == (401, "invalid_client")


def test_64_levels_and_a_megabyte_are_refused(keyed: RelyingParty, signer: Signer) -> None:
    deep: Any = "x"
    for _ in range(64):
        deep = [deep]
    assert replied(ask(keyed, signer.assertion(aud=deep))) == (401, "invalid_client")
    assert replied(ask(keyed, signer.assertion(filler="x" * 9_000))) == (401, "invalid_client")
    huge = ask(keyed, signer.assertion(filler="x" * 1_000_000))
    assert huge.status_code in (400, 401)


def test_type_and_assertion_belong_together(keyed: RelyingParty, signer: Signer) -> None:
    sent = signer.assertion()
    alone = ({"client_assertion": sent["client_assertion"]}, {"client_assertion_type": ASSERTION_TYPE})
    for form in alone:
        assert replied(ask(keyed, form)) == (400, "invalid_request")
    saml = "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"
    assert replied(ask(keyed, {**sent, "client_assertion_type": saml})) == (401, "invalid_client")
    assert ask(keyed, sent).status_code == 200


def test_two_methods_at_once_are_refused(keyed: RelyingParty, signer: Signer) -> None:
    """RFC 6749 section 2.3."""
    assert replied(ask(keyed, signer.assertion(), {"client_secret": "x"})) == (400, "invalid_request")
    header = {"Authorization": "Basic a2V5ZWQ6eA=="}
    answer = keyed.back("token", {**MACHINE, **signer.assertion()}, headers=header)
    assert replied(answer) == (400, "invalid_request")


def test_client_with_keys_does_not_fall_back_to_a_secret(
    world: World, keyed: RelyingParty, sharing: RelyingParty
) -> None:
    """Neither at tenant-wide addresses nor at those that name the application, where others may choose."""
    for client in (keyed, sharing, keyed.at_own_issuer(), sharing.at_own_issuer()):
        form = {"client_id": client.client_id, "client_secret": SECRET}
        assert replied(ask(client, form)) == (401, "invalid_client")
        assert replied(client.back("token", MACHINE, auth=(client.client_id, SECRET))) == (401, "invalid_client")
        assert ask(client, {"client_id": client.client_id}).status_code in (400, 401)
    machine = {**MACHINE, "audience": "x", "client_id": sharing.client_id, "client_secret": SECRET}
    assert replied(sharing.post("/service/oauth/token", machine)) == (401, "invalid_client")


def test_client_with_a_secret_cannot_assert(world: World, shop: RelyingParty, phone: RelyingParty) -> None:
    world.change(shop, jwks=public_jwks(client_key("ES256")))
    for client in (shop, shop.at_own_issuer(), phone):
        assert replied(ask(client, Signer(client).assertion())) == (401, "invalid_client")
        secret = client.secret or "a made up secret of 32 bytes or more"
        assert replied(ask(client, by_secret(client, secret).assertion())) == (401, "invalid_client")


def test_application_address_takes_assertions(keyed: RelyingParty) -> None:
    own = keyed.at_own_issuer()
    for audience in (own.issuer, keyed.issuer, f"{own.hub_url}/api/oidc/{own.app}/token"):
        assert ask(own, Signer(own).assertion(aud=audience)).status_code == 200
    other = f"{own.hub_url}/service/oidc/Shop"
    assert replied(ask(own, Signer(own).assertion(aud=other))) == (401, "invalid_client")


@pytest.mark.both_databases
def test_assertion_of_another_tenant_is_refused(
    keyed: RelyingParty, signer: Signer, new_world: Any, world: World
) -> None:
    theirs = new_world().application(
        "keyed", secret=None, client_id=keyed.client_id, token_endpoint_auth_method="private_key_jwt",
        jwks=public_jwks(client_key("ES256")), grant_types=["client_credentials"],
    )  # fmt: skip
    assert replied(ask(theirs, signer.assertion())) == (401, "invalid_client"), "aud is the other tenant"
    assert replied(ask(theirs, Signer(theirs, key=client_key("ES256", "x")).assertion())) == (401, "invalid_client")
    assert ask(theirs, Signer(theirs).assertion()).status_code == 200


def test_inactive_client_and_guesses_are_refused(world: World, keyed: RelyingParty, signer: Signer) -> None:
    world.change(keyed, is_active=False)
    assert replied(ask(keyed, signer.assertion())) == (401, "invalid_client")
    statuses = [ask(keyed, signer.assertion()).status_code for _ in range(21)]
    assert statuses[-1] == 429


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_secret_is_stored_encrypted_and_signs_after_reencryption(
    world: World, sharing: RelyingParty, services: IdentityServices
) -> None:
    def stored() -> bytes:
        where = (applications.c.tenant_id == world.tenant_id, applications.c.client_id == sharing.client_id)
        with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
            return bytes(work.run(select(applications.c.sealed_secret).where(*where)).scalar_one())

    assert SECRET.encode() not in stored()
    reencrypt(services)
    assert ask(sharing, by_secret(sharing).assertion()).status_code == 200


@pytest.mark.parametrize("named", ["\ud800", "a\x00b"], ids=ascii)
def test_sub_that_no_database_stores_is_refused(keyed: RelyingParty, signer: Signer, named: str) -> None:
    answer = keyed.back("token", {"grant_type": "client_credentials", **signer.assertion(sub=named, iss=named)})
    assert answer.status_code == 401
