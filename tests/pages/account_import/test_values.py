"""Values of import files: one reader of booleans, dates and numbers for every format, and refusals by name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bcrypt
import pytest
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from app.commands.account_import import RECOVERY_PATH
from app.identity.administration.account_import.batch_import import ImportOutcome
from tests.support.journeys.account_import import (
    AUTH0,
    BCRYPT,
    KEYCLOAK,
    OID,
    SALT,
    UUID,
    account,
    credential,
    imported,
    keycloak,
    pbkdf2,
    results_of,
    sign_in,
)
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt

SECRET, SECRET_BYTES = "JBSWY3DPEHPK3PXP", b"Hello!\xde\xad\xbe\xef"
"""80 bits: the example of every guide to authenticator apps."""
ANOTHER_UUID = "0c6f4b7e-2c0e-4f55-93c5-5b0a6a0f4b11"
OWN = {"email": "ada@example.com", "email_verified": True, "password_hash": BCRYPT}


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(custom_uid=True, connections={"google": {"key": "k"}})


def otp(secret: Any, **data: Any) -> dict[str, Any]:
    """Return a user of Keycloak with an authenticator app."""
    user = keycloak(KEYCLOAK["argon2"])
    credential = {"type": "otp", "secretData": json.dumps({"value": secret}), "credentialData": json.dumps(data)}
    return {**user, "credentials": [*user["credentials"], credential]}


SHORT_SECRETS: dict[str, tuple[str, dict[str, Any]]] = {
    "as apps show it": ("gatehouse", {**OWN, "totp_secret": SECRET}),
    "lower case with blanks": ("gatehouse", {**OWN, "totp_secret": " jbsw y3dp ehpk 3pxp\u00a0"}),
    "hyphens": ("gatehouse", {**OWN, "totp_secret": "JBSW-Y3DP-EHPK-3PXP"}),
    "Auth0, lower case": ("auth0", {**AUTH0, "mfa_factors": [{"totp": {"secret": SECRET.lower()}}]}),
    "Keycloak, lower case": ("keycloak", otp("jbsw y3dp ehpk 3pxp", secretEncoding="BASE32")),
    "Keycloak, digits as text": ("keycloak", otp(SECRET, secretEncoding="BASE32", digits="6", period={"$numberInt": "30"})),
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT_SECRETS)
def test_short_authenticator_secret_verifies_sign_in(
    name: str, new_world: NewWorld, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    """It was accepted, and each right code was answered with 500."""
    tenant = new_world(custom_uid=True, two_factor="required")
    form, record = SHORT_SECRETS[name]
    assert results_of(imported(tenant, tmp_path, form, record)) == ["created"]
    page = sign_in(tenant, new_visitor_at)
    assert page.heading == "Two-step verification"
    app = TOTP(SECRET_BYTES, 6, SHA1(), 30, enforce_key_length=False)
    digits = app.generate(int(tenant.services.clock.now().timestamp())).decode()
    assert page.press("Verify", code=f"{(int(digits) + 1) % 1_000_000:06}").status == 403
    assert "code" in page.press("Verify", code=digits).query


@pytest.mark.parametrize(
    "secret", ["JBSWY3DP", "JBSWY3DPEHPK3PXPJ", "JBSWY3DPEHPK3PX1", "A" * 400, "not base32 at all"],
    ids=["40 bits", "impossible length", "another alphabet", "too long", "words"],
)  # fmt: skip
def test_unusable_authenticator_secret_is_refused(secret: str, tenant: World, tmp_path: Path) -> None:
    (done,) = imported(tenant, tmp_path, "gatehouse", {**OWN, "totp_secret": secret})
    assert done.says == ("totp_secret: expected base32 of 10 to 128 bytes, such as JBSWY3DPEHPK3PXP",)


BOOLEANS: dict[str, tuple[str, dict[str, Any], str]] = {
    "own format": ("gatehouse", OWN, "email_verified"),
    "Auth0": ("auth0", AUTH0, "email_verified"),
    "Keycloak": ("keycloak", keycloak(KEYCLOAK["argon2"]), "emailVerified"),
}


@pytest.mark.parametrize("name", BOOLEANS)
def test_boolean_is_read_in_every_spelling(name: str, tenant: World, tmp_path: Path, subtests: pytest.Subtests) -> None:
    form, record, key = BOOLEANS[name]
    spellings: dict[Any, bool] = {
        "false": False,
        "False": False,
        " no ": False,
        0: False,
        "0": False,
        "true": True,
        1: True,
    }
    for value, meant in spellings.items():
        with subtests.test(value=value):
            imported(tenant, tmp_path, form, {**record, key: value})
            assert account(tenant).email_verified is meant
    for other in ("maybe", 2, [True], {"true": True}, 0.0):
        with subtests.test(value=other):
            (done,) = imported(tenant, tmp_path, form, {**record, key: other})
            assert done.outcome is ImportOutcome.REFUSED
            assert done.says[0].startswith(f"{key}: expected true or false; found ")


def test_every_boolean_of_an_export_is_read_alike(tenant: World, tmp_path: Path, subtests: pytest.Subtests) -> None:
    user = keycloak(KEYCLOAK["argon2"])
    phone = {"attributes": {"phoneNumber": ["+4930123456"], "phoneNumberVerified": [True]}}
    listed = {"_id": AUTH0["_id"], "identifiers": [
        {"type": "email", "value": "ada@example.com", "verified": "false"},
        {"type": "phone_number", "value": "+4930123456", "verified": "true"},
    ]}  # fmt: skip
    cases: list[tuple[str, dict[str, Any], dict[str, bool]]] = [
        ("keycloak", {**user, "enabled": "false"}, {"is_active": False}),
        ("keycloak", {**user, **phone}, {"phone_verified": True}),
        ("auth0", {**AUTH0, "blocked": "false"}, {"is_active": True}),
        ("auth0", {**AUTH0, "blocked": "true"}, {"is_active": False}),
        ("auth0", listed, {"email_verified": False, "phone_verified": True}),
        ("gatehouse", {**OWN, "is_active": "false"}, {"is_active": False}),
        ("gatehouse", {**OWN, "phone": "+4930123456", "phone_verified": "false"}, {"phone_verified": False}),
    ]
    for number, (form, record, meant) in enumerate(cases):
        email = f"ada{number}@example.com"
        text = json.dumps(record).replace("ada@example.com", email).replace("+4930123456", f"+493012345{number}")
        text = text.replace(UUID, f"uid{number}").replace(OID, f"{OID[:-1]}{number}").replace('"ada"', f'"ada{number}"')
        with subtests.test(form=form, meant=meant):
            assert results_of(imported(tenant, tmp_path, form, json.loads(text))) == ["created"]
            stored = account(tenant, email)
            assert {key: getattr(stored, key) for key in meant} == meant


AT = datetime(2019, 12, 6, 18, 36, 12, tzinfo=UTC)
TIMES: dict[str, Any] = {
    "canonical MongoDB": {"$date": {"$numberLong": "1575657372000"}},
    "relaxed MongoDB": {"$date": "2019-12-06T18:36:12.000Z"},
    "older MongoDB": {"$date": 1575657372000},
    "ISO 8601": "2019-12-06T18:36:12Z",
    "another zone": "2019-12-06T19:36:12+01:00",
    "milliseconds": 1575657372000,
    "milliseconds as text": "1575657372000",
    "compact ISO 8601": "20191206T183612Z",
    "seconds": 1575657372,
    "canonical number": {"$numberLong": "1575657372000"},
    "double": {"$numberDouble": "1575657372.0"},
}


@pytest.mark.parametrize("name", TIMES)
def test_time_is_read_in_every_spelling(name: str, tenant: World, tmp_path: Path) -> None:
    time = TIMES[name]
    imported(tenant, tmp_path, "auth0", {**AUTH0, "created_at": time, "password_set_date": time})
    stored = account(tenant)
    assert (stored.created_at, stored.password_changed_at) == (AT, AT)
    imported(tenant, tmp_path, "gatehouse", {**OWN, "email": "own@example.com", "created_at": time})
    assert account(tenant, "own@example.com").created_at == AT
    user = {"email": "kc@example.com", "username": "kc", "createdTimestamp": time}
    imported(tenant, tmp_path, "keycloak", keycloak(KEYCLOAK["argon2"], **user))
    assert account(tenant, "kc@example.com").created_at == AT


@pytest.mark.parametrize(
    "written", ["2000-02-29", "02-29-2000", "2000-02-29T00:00:00.000Z", {"$date": "2000-02-29T00:00:00Z"}]
)
def test_birth_date_is_read_in_every_spelling(written: Any, tenant: World, tmp_path: Path) -> None:
    assert results_of(imported(tenant, tmp_path, "gatehouse", {**OWN, "birth_date": written})) == ["created"]
    assert account(tenant).profile["BirthDate"] == "02-29-2000"


def test_canonical_mongodb_numbers_and_ids_are_read(
    tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    password = pbkdf2("pbkdf2-sha256", "sha256", 64)
    data = json.loads(password["credentialData"]) | {"hashIterations": {"$numberInt": "1000"}}
    user = keycloak({**password, "credentialData": json.dumps(data)}, id={"$oid": OID})
    assert results_of(imported(tenant, tmp_path, "keycloak", user)) == ["created"]
    assert account(tenant).uid == OID
    assert "code" in sign_in(tenant, new_visitor_at).query
    google = {"provider": "google-oauth2", "user_id": {"$numberLong": "77"}}
    record = {**AUTH0, "email": "eve@example.com", "identities": [google]}
    imported(tenant, tmp_path, "auth0", record)
    stored = account(tenant, "eve@example.com")
    assert stored.profile["ExternalUserLoginId"] == f"auth0|{OID}"
    assert stored.private["identities"][0]["subject"] == "77"


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("keycloak", {"createdTimestamp": "soon"}, "createdTimestamp: expected a time such as 2026-01-31T12:00:00Z"),
    ("keycloak", {"createdTimestamp": 1e300}, "createdTimestamp: expected a time"),
    ("keycloak", {"enabled": "perhaps"}, "enabled: expected true or false"),
    ("keycloak", {"attributes": []}, "attributes: expected an object; found a list"),
    ("keycloak", {"attributes": {"phoneNumber": [{}]}}, "attributes.phoneNumber[0]: expected a text"),
    ("keycloak", {"credentials": {}}, "credentials: expected a list; found an object"),
    ("keycloak", {"credentials": ["x"]}, "credentials[0]: expected an object; found a text"),
    ("keycloak", {"credentials": [{"type": "password", "secretData": "{"}]}, "credentials[0].secretData: expected a JSON object"),
    ("keycloak", {"credentials": [{"type": "password", "secretData": "7"}]}, "secretData: expected an object; found a number"),
    ("keycloak", {"credentials": [{"type": "password", "secretData": "[" * 5_000}]}, "credentials[0].secretData: expected a JSON object"),
    ("keycloak", {"credentials": [{"type": "password", "secretData": '{"a":' * 100 + "1" + "}" * 100}]}, "expected at most 64 levels"),
    ("keycloak", {"credentials": [{"type": "password", "secretData": '{"salt":"%"}'}]}, "credentials[0].secretData.salt: expected base64"),
    ("keycloak", {"credentials": [{"type": "password", "credentialData": '{"hashIterations":"9e9"}'}]}, "Iterations: expected a whole"),
    ("keycloak", {"federatedIdentities": [{"identityProvider": ["google"]}]}, "federatedIdentities[0].identityProvider: expected a text"),
    ("keycloak", {"realmRoles": [7.5]}, "realmRoles[0]: expected a text; found a number"),
    ("keycloak", {"clientRoles": {"shop": "admin"}}, "clientRoles.shop: expected a list"),
    ("keycloak", {"groups": "staff"}, "groups: expected a list"),
    ("auth0", {"email": ["a@example.com"]}, "email: expected a text; found a list"),
    ("auth0", {"identities": {"provider": "x"}}, "identities: expected a list"),
    ("auth0", {"identities": [{"provider": 1.5}]}, "identities[0].provider: expected a text"),
    ("auth0", {"identifiers": [{"type": {}}]}, "identifiers[0].type: expected a text; found an object"),
    ("auth0", {"mfa_factors": [{"totp": "secret"}]}, "mfa_factors[0].totp: expected an object"),
    ("auth0", {"password_set_date": {"$date": {"$numberLong": "x"}}}, "password_set_date: expected a whole number"),
    ("auth0", {"created_at": True}, "created_at: expected a time"),
    ("gatehouse", {"created_at": "2019"}, "created_at: expected a time"),
    ("gatehouse", {"created_at": "yesterday"}, "created_at: expected a time"),
    ("gatehouse", {"roles": [{}]}, "roles[0]: expected a text"),
    ("gatehouse", {"identities": ["google"]}, "identities[0]: expected an object; found a text"),
    ("gatehouse", {"first_name": 7.5}, "first_name: expected text"),
]  # fmt: skip


def test_bad_field_names_itself(tenant: World, tmp_path: Path, subtests: pytest.Subtests) -> None:
    good = {"keycloak": keycloak(KEYCLOAK["argon2"]), "auth0": AUTH0, "gatehouse": OWN}
    for form, change, sentence in BAD:
        with subtests.test(form=form, sentence=sentence):
            (done,) = imported(tenant, tmp_path, form, {**good[form], **change})
            assert (done.outcome, sentence in done.says[0]) == (ImportOutcome.REFUSED, True), done.says


@pytest.mark.both_databases
def test_text_that_no_database_stores_is_refused(tenant: World, tmp_path: Path, subtests: pytest.Subtests) -> None:
    identity = {"connection": "google", "id": "7"}
    for key, value in (
        ("external_id", "a\u0000b"),
        ("first_name", "Ada\u001b"),
        ("custom_fields", {"pl\u0000an": "x"}),
        ("identities", [{**identity, "name": "\u0000"}]),
        ("username", "ada\u0007"),
    ):
        with subtests.test(key=key):
            (done,) = imported(tenant, tmp_path, "gatehouse", {**OWN, key: value})
            assert done.outcome is ImportOutcome.REFUSED
            assert done.says[0].startswith(key)


@pytest.mark.parametrize("key", ["created_at", "password_changed_at"])
def test_time_to_come_is_refused(key: str, tenant: World, tmp_path: Path, subtests: pytest.Subtests) -> None:
    """Links from before the last change of a password are invalid: after one in the year 9999, every link was."""
    for time in ("9999-12-31T23:59:59Z", "2262-01-01", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", -(10**15)):
        with subtests.test(time=time):
            (done,) = imported(tenant, tmp_path, "gatehouse", {**OWN, key: time})
            assert (done.outcome, done.says[0].split(":")[0]) == (ImportOutcome.REFUSED, key)


TWO: dict[str, tuple[str, dict[str, Any], dict[str, Any], str]] = {
    "Keycloak": ("keycloak", keycloak(KEYCLOAK["argon2"]), keycloak(KEYCLOAK["argon2"], id=ANOTHER_UUID, username="countess"), UUID),
    "Auth0": ("auth0", AUTH0, {**AUTH0, "_id": {"$oid": "60425dc43519d90068f82973"}}, f"auth0|{OID}"),
    "own uid": ("gatehouse", {**OWN, "uid": "one"}, {**OWN, "uid": "two"}, "one"),
    "own external id": ("gatehouse", {**OWN, "external_id": "one"}, {**OWN, "external_id": "two"}, "one"),
    "uid after none": ("gatehouse", OWN, {**OWN, "uid": "two"}, ""),
}  # fmt: skip


@pytest.mark.both_databases
@pytest.mark.parametrize("name", TWO)
def test_two_ids_of_one_verified_email_stay_two_people(name: str, tenant: World, tmp_path: Path) -> None:
    form, first, second, known = TWO[name]
    created, refused = imported(tenant, tmp_path, form, first, second)
    assert (created.outcome, refused.outcome) == (ImportOutcome.CREATED, ImportOutcome.REFUSED)
    assert f"ada@example.com (ID {known}" in refused.says[0]
    stored = account(tenant)
    assert known in (stored.uid, stored.profile.get("ExternalUserLoginId"), "")
    assert results_of(imported(tenant, tmp_path, form, first)) == ["unchanged"]


def test_account_in_use_with_another_id_is_refused(tenant: World, tmp_path: Path) -> None:
    """It was “kept”, and applications that know the person by the old ID met another person."""
    person = tenant.person("ada@example.com", "the password here 1")
    (done,) = imported(tenant, tmp_path, "keycloak", keycloak(KEYCLOAK["argon2"]))
    assert done.outcome is ImportOutcome.REFUSED
    assert f"(ID {person.uid})" in done.says[0]
    assert UUID in done.says[0]


TYPED, NORMAL = "\ufb01sh-Kettle-91", "fish-Kettle-91"
"""A password as another system hashed it, and in NFKC."""


@pytest.mark.parametrize("form", ["auth0", "keycloak"])
def test_hash_of_a_typed_password_is_renewed_on_the_page(
    form: str, tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    derived = hash_secret_raw(TYPED.encode(), SALT, 1, 64, 1, 32, Type.ID)
    more = {"memory": ["64"], "type": ["id"], "version": ["1.3"], "parallelism": ["1"]}
    argon2 = credential({"hashIterations": 1, "algorithm": "argon2", "additionalParameters": more}, derived)
    bcrypted = {**AUTH0, "passwordHash": bcrypt.hashpw(TYPED.encode(), bcrypt.gensalt(4)).decode()}
    imported(tenant, tmp_path, form, {"auth0": bcrypted, "keycloak": keycloak(argon2)}[form])
    assert "Wrong" in sign_in(tenant, new_visitor_at, password=NORMAL).text
    assert "code" in sign_in(tenant, new_visitor_at, password=TYPED).query
    assert "code" in sign_in(tenant, new_visitor_at, password=NORMAL).query


def test_address_in_the_summary_has_its_page(tenant: World, new_visitor_at: NewVisitorAt) -> None:
    assert new_visitor_at(tenant).open(RECOVERY_PATH).heading == "Forgot password?"
