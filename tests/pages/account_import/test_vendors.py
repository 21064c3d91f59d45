"""Imported accounts sign in as before: passwords, authenticator apps, identities, roles and organizations of vendors' exports."""

import base64
import hashlib
import json
from pathlib import Path

import bcrypt
import pyotp
import pytest

from app.identity.administration.account_import import batch_import
from app.identity.administration.account_import.batch_import import ImportOutcome
from app.identity.administration.account_import.import_record import MappedRecord, RecordRefused
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.organizations import organization_store
from app.identity.directory.organizations.memberships import membership_store
from app.identity.directory.organizations.roles import organization_role_store
from app.identity.directory.roles import role_names, tenant_role_store
from tests.support.journeys.account_import import (
    AUTH0,
    BCRYPT,
    KEYCLOAK,
    OID,
    OLD,
    SALT,
    UUID,
    account,
    context,
    credential,
    imported,
    imported_files,
    keycloak,
    results_of,
    sign_in,
)
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(custom_uid=True, connections={"google": {"key": "k"}})


def test_auth0_password_signs_in_and_is_rehashed(tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt) -> None:
    assert results_of(imported(tenant, tmp_path, "auth0", AUTH0)) == ["created"]
    stored = account(tenant)
    assert (stored.password_hash, stored.email_verified) == (BCRYPT, True)
    assert stored.profile["ExternalUserLoginId"] == f"auth0|{OID}"
    assert stored.password_changed_at
    assert stored.password_changed_at.year == 2019
    wrong = sign_in(tenant, new_visitor_at, password="another password")
    assert "Wrong email or password" in wrong.text
    assert "code" in sign_in(tenant, new_visitor_at).query
    assert str(account(tenant).password_hash).startswith("$argon2id$")
    assert "code" in sign_in(tenant, new_visitor_at).query


@pytest.mark.parametrize("algorithm", KEYCLOAK)
def test_keycloak_password_signs_in_and_is_rehashed(
    algorithm: str, tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    realm = {"realm": "acme", "users": [keycloak(KEYCLOAK[algorithm])]}
    assert results_of(imported(tenant, tmp_path, "keycloak", realm)) == ["created"]
    stored = account(tenant)
    assert (stored.uid, stored.username, stored.profile["FirstName"]) == (UUID, "ada", "Ada")
    assert stored.created_at.year == 2023
    assert "code" in sign_in(tenant, new_visitor_at).query
    renewed = account(tenant)
    assert renewed.password_hash != stored.password_hash
    found = tenant.services.directory.by_name(tenant.name)
    assert found
    assert not tenant.services.hashing.is_stale(str(renewed.password_hash), found.settings.argon2)


@pytest.mark.both_databases
def test_auth0_profile_and_hash_exports_become_one_account(tenant: World, tmp_path: Path) -> None:
    profile = {
        "user_id": f"auth0|{OID}", "email": "ada@example.com", "email_verified": True, "given_name": "Ada", "blocked": True,
        "created_at": "2018-01-02T03:04:05.000Z",
        "identities": [{"provider": "auth0", "user_id": OID, "connection": "Username-Password-Authentication", "isSocial": False},
                       {"provider": "google-oauth2", "user_id": "113974520365482658901", "connection": "google-oauth2", "isSocial": True,
                        "profileData": {"email": "ada@gmail.com", "name": "Ada L"}}],
    }  # fmt: skip
    assert results_of(imported(tenant, tmp_path, "auth0", AUTH0, profile)) == ["created", "updated"]
    stored = account(tenant)
    assert (stored.password_hash, stored.is_active, stored.profile["FirstName"]) == (BCRYPT, False, "Ada")
    own = context(tenant)
    found = linked_identities.find_account(own, "google", "113974520365482658901")
    own.work.rollback()
    assert found
    assert found.uid == stored.uid
    assert linked_identities.of(stored)[0].email == "ada@gmail.com"


@pytest.mark.both_databases
def test_authenticator_app_of_the_export_verifies_sign_in(
    new_world: NewWorld, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    tenant = new_world(custom_uid=True, two_factor="required")
    raw = "Kf1yTSZ6jMzXvPqW9bDg"  # as realms before version 26 keep it
    otp = {
        "id": "c1", "type": "otp", "secretData": json.dumps({"value": raw}),
        "credentialData": json.dumps({"subType": "totp", "digits": 6, "counter": 0, "period": 30, "algorithm": "HmacSHA1"}),
    }  # fmt: skip
    user = keycloak(KEYCLOAK["argon2"])
    imported(
        tenant, tmp_path, "keycloak", {"realm": "acme", "users": [{**user, "credentials": [*user["credentials"], otp]}]}
    )
    page = sign_in(tenant, new_visitor_at)
    assert page.heading == "Two-step verification"
    code = pyotp.TOTP(base64.b32encode(raw.encode()).decode()).at(tenant.services.clock.now())
    assert "code" in page.press("Verify", code=code).query


@pytest.mark.both_databases
def test_social_account_without_email_is_found_by_its_identity(tenant: World, tmp_path: Path) -> None:
    record = {
        "user_id": "google-oauth2|77",
        "identities": [{"provider": "google-oauth2", "user_id": "77", "connection": "google-oauth2"}],
    }
    assert results_of(imported(tenant, tmp_path, "auth0", record)) == ["created"]
    assert results_of(imported(tenant, tmp_path, "auth0", record)) == ["unchanged"]


@pytest.mark.both_databases
def test_roles_and_organizations_come_along(new_world: NewWorld, tmp_path: Path) -> None:
    tenant = new_world(custom_uid=True, organizations={"enabled": True})
    own = context(tenant)
    stamps = {"created_at": own.now, "modified_at": own.now}
    tenant_role_store.add_roles(
        own.work, [{"name": "editor", "skeleton": role_names.skeleton("editor"), "permissions": [], **stamps}]
    )
    globex = organization_store.add(own, "Globex", {}, {})
    member = organization_role_store.add_role(own, "", "Member", "", [])
    own.work.commit()
    user = keycloak(
        KEYCLOAK["argon2"], realmRoles=["default-roles-acme", "offline_access", "writer"], groups=["/staff"]
    )
    realm = {
        "realm": "acme", "users": [user],
        "organizations": [{"name": "Globex", "alias": "globex", "members": [{"username": "ada", "membershipType": "UNMANAGED"}]}],
    }  # fmt: skip
    mapped = MappedRecord(roles={"writer": "editor"})
    (refused,) = imported(tenant, tmp_path, "keycloak", realm)
    assert "'writer'" in refused.says[0]
    (refused,) = imported(tenant, tmp_path, "keycloak", realm, mapped=mapped)
    assert "has no role for new members" in refused.says[0]
    own = context(tenant)
    organization_role_store.set_default(own, member.role_id)
    own.work.commit()
    (done,) = imported(tenant, tmp_path, "keycloak", realm, mapped=mapped)
    assert (done.outcome, done.says) == (ImportOutcome.CREATED, ("left out the groups /staff",))
    stored = account(tenant)
    assert stored.roles == ["editor"]
    own = context(tenant)
    members = membership_store.count(own, globex.org_id)
    own.work.rollback()
    assert members == 1


@pytest.mark.both_databases
def test_repeated_import_updates_until_the_owner_signs_in(
    tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    imported(tenant, tmp_path, "auth0", AUTH0)
    assert results_of(imported(tenant, tmp_path, "auth0", AUTH0)) == ["unchanged"]
    newer = bcrypt.hashpw(b"a newer password 1", bcrypt.gensalt(4)).decode()
    assert results_of(imported(tenant, tmp_path, "auth0", {**AUTH0, "passwordHash": newer})) == ["updated"]
    assert "code" in sign_in(tenant, new_visitor_at, password="a newer password 1").query
    (done,) = imported(tenant, tmp_path, "auth0", AUTH0)
    assert done.outcome is ImportOutcome.KEPT
    assert "code" in sign_in(tenant, new_visitor_at, password="a newer password 1").query


def test_account_in_use_here_is_not_overwritten(tenant: World, tmp_path: Path, new_visitor_at: NewVisitorAt) -> None:
    tenant.person("ada@example.com", "the password here 1")
    assert results_of(imported(tenant, tmp_path, "auth0", AUTH0)) == ["kept"]
    assert "code" in sign_in(tenant, new_visitor_at, password="the password here 1").query


def test_unverified_duplicate_of_another_user_is_refused(tenant: World, tmp_path: Path) -> None:
    squatter = {**AUTH0, "email_verified": False}
    victim = {**AUTH0, "_id": {"$oid": "60425dc43519d90068f82973"}}
    assert results_of(imported(tenant, tmp_path, "auth0", squatter, victim)) == ["created", "refused"]
    assert account(tenant).profile["ExternalUserLoginId"] == f"auth0|{OID}"


@pytest.mark.both_databases
def test_refused_lines_are_named_and_the_rest_is_imported(tenant: World, tmp_path: Path) -> None:
    records = [
        {"email": "one@example.com", "password_hash": BCRYPT},
        {"email": "no address", "password_hash": BCRYPT},
        {"email": "two@example.com", "password_hash": "secret of the export"},
        {"email": "three@example.com", "identities": [{"connection": "nowhere", "id": "1"}]},
        {"email": "four@example.com", "roles": ["nobody has it"]},
        {"email": "five@example.com", "password": "in clear"},
        {"email": "six@example.com", "totp_secret": "not base32"},
        {"email": "seven@example.com", "organizations": [{"name": "Nowhere"}]},
        {},
        [],
        {"email": "eight@example.com", "uid": "no/such"},
        {"email": "nine@example.com"},
    ]
    reported = imported(tenant, tmp_path, "gatehouse", *records)
    assert results_of(reported) == ["created", *["refused"] * 10, "created"]
    assert [str(done.place) for done in reported[:2]] == [
        "export.json: line 1 (one@example.com)",
        "export.json: line 2 (no address)",
    ]
    says = " ".join(sentence for done in reported for sentence in done.says)
    assert "secret of the export" not in says
    assert "in clear" not in says
    assert "not base32" not in says


def test_batches_commit_one_by_one_and_skip_goes_on(tenant: World, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    lines = [json.dumps({"email": f"p{number}@example.com"}) for number in range(1, 8)]
    path.write_text("\n".join([*lines, "x" * 1_000_001]))
    report = batch_import.Report()
    with pytest.raises(RecordRefused):
        imported_files(tenant, [path], "gatehouse", batch=3, report=report)
    assert report.last == 6
    path.write_text("\n".join(lines))
    assert results_of(imported_files(tenant, [path], "gatehouse", batch=3, skip=report.last)) == ["created"]
    assert results_of(imported_files(tenant, [path], "gatehouse", batch=3)) == ["unchanged"] * 7


def test_dry_run_writes_nothing(tenant: World, tmp_path: Path) -> None:
    assert results_of(imported(tenant, tmp_path, "auth0", AUTH0, writes=False)) == ["created"]
    own = context(tenant)
    assert account_store.by_identifier(own, "email", "ada@example.com") is None
    own.work.rollback()


@pytest.mark.parametrize(
    "text", ["email,name", '{"users": [{"id": 1}, ', "[{]", ""], ids=["csv", "cut", "broken", "empty"]
)
def test_broken_file_is_refused_with_its_name(text: str, tenant: World, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(RecordRefused, match=r"export\.json"):
        imported_files(tenant, [path], "keycloak")


def test_hash_bomb_is_refused_by_its_line_and_parameter(tenant: World, tmp_path: Path) -> None:
    bomb = credential({"hashIterations": 2_000_000, "algorithm": "pbkdf2-sha256"}, b"x" * 700)
    reported = imported(tenant, tmp_path, "keycloak", keycloak(bomb))
    assert [(done.outcome, done.says) for done in reported] == [
        ("refused", ("password_hash: expected the PBKDF2 hash to have 16 to 128 bytes; found 700",))
    ]
    ours = {"email": "eve@example.com", "password_hash": BCRYPT.replace("$04$", "$15$")}
    (done,) = imported(tenant, tmp_path, "gatehouse", ours)
    assert (str(done.place), done.says) == (
        "export.json: line 1 (eve@example.com)",
        ("password_hash: expected a bcrypt cost from 4 to 14; found 15",),
    )


@pytest.mark.parametrize(
    "number", ["1" * 5_000, "1e9999999", "1e400"], ids=["long", "huge exponent", "beyond a double"]
)
def test_number_beyond_64_bits_is_refused(tenant: World, tmp_path: Path, number: str) -> None:
    """A long one ended the process; one with a huge exponent took hours."""
    path = tmp_path / "export.json"
    path.write_text(f'[{{"email": "ada@example.com", "created_at": {number}}}]')
    with pytest.raises(RecordRefused, match=r"isn't valid JSON: .*overflow"):
        imported_files(tenant, [path], "gatehouse")


def test_expensive_hash_and_unverified_email_need_one_password(
    new_world: NewWorld, tmp_path: Path, new_visitor_at: NewVisitorAt
) -> None:
    """The page that asks to open the mail remembers the hash that replaced the expensive one."""
    tenant = new_world(email_verification="required")
    derived = hashlib.pbkdf2_hmac("sha256", OLD.encode(), SALT, 900_000)
    stored = imported_hashes.pbkdf2("sha256", 900_000, SALT, derived)
    imported(tenant, tmp_path, "gatehouse", {"email": "ada@example.com", "password_hash": stored})
    shop, visitor = tenant.application("shop"), new_visitor_at(tenant)
    page = visitor.authorize(shop).press("Sign in", identifier="ada@example.com", password=OLD)
    assert "Check your email" in page.text
    assert str(account(tenant).password_hash).startswith("$argon2id$")
    assert results_of(
        imported(tenant, tmp_path, "gatehouse", {"email": "ada@example.com", "password_hash": stored})
    ) == ["kept"]
