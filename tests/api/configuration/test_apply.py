"""`gatehouse apply` and `export` over both databases."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.reencryption import reencrypt
from app.identity.assembly.services import assemble
from app.identity.assembly.table_modules import metadata
from app.identity.directory.tenants import tenant_cache, tenant_writes
from app.identity.platform.encryption import Encryption
from app.identity.platform.services import IdentityServices
from app.identity.platform.store import migrate
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import monotonic
from tests.support.services.identity_service import SECRET as SERVICE_SECRET
from tests.support.tenants.configuration_files import applied, lines, planned, rows

KEY, SECRET = "9b2f0e6c-0d4f-4f0e-8f63-1d2a5b7c9e01", "5f1c7a32-7b0e-4a55-9c1d-3e8f6a2b4c02"
ACME = f"""tenants:
  - name: acme
    api_key: {KEY}
    api_secret: {SECRET}
    settings: {{custom_uid: true, lockout: {{maximum_failed_attempts: 3}}}}
    url_whitelist: ["http://shop.localhost:8000"]
    brand: {{color: "#123456"}}
    applications:
      - {{name: shop, client_id: shop, client_secret: the-secret-of-the-shop, redirect_uris: ["https://a.example/cb"]}}
      - {{name: desk, client_id: desk, token_endpoint_auth_method: none, redirect_uris: ["com.desk:/cb"]}}
    accounts:
      - {{email: Ada@example.com, username: ada, password: correct horse 1!, email_verified: true, first_name: Ada}}
"""

ADA = {"FirstName": "Ada", "RegistrationSource": "API"}  # created by the file, not by a page


@pytest.fixture
def ours(own_services: IdentityServices) -> IdentityServices:
    return own_services


def test_apply_creates_tenant_with_all_contents(ours: IdentityServices) -> None:
    assert {action for _, _, action in lines(applied(ours, ACME))} == {"create"}
    tenant = ours.directory.by_key(KEY.upper())
    assert tenant is not None
    assert tenant.settings.lockout.maximum_failed_attempts == 3
    assert tenant.settings.url_whitelist == ("http://shop.localhost:8000",)
    assert (
        ours.encryption.decrypt(
            tenant.sealed_api_secret, tenant_writes.api_secret_associated_data(tenant.tenant_id)
        ).decode()
        == SECRET
    )
    assert ours.directory.by_secret(SECRET.upper()) == tenant
    by_id = {row.client_id: row for row in rows(ours, "applications")}
    assert by_id["shop"].secret_hash == randomness.digest("the-secret-of-the-shop")
    assert by_id["desk"].secret_hash is None
    (ada,) = rows(ours, "accounts")
    assert (ada.email, ada.email_verified, ada.profile) == ("Ada@example.com", True, ADA)
    assert ours.hashing.is_match(ada.password_hash, "correct horse 1!", tenant.settings.argon2)
    assert {(row.kind, row.value) for row in rows(ours, "identifiers") if row.kind != "profile"} == {
        ("email", "ada@example.com"),
        ("username", "ada"),
    }
    assert sorted(row.event for row in rows(ours, "audit")) == [
        "account.created",
        *["oauth_clients.added"] * 2,
        "theme_versions.published",
    ]


def test_second_apply_changes_nothing(ours: IdentityServices) -> None:
    applied(ours, ACME)
    before = rows(ours, "tenants"), rows(ours, "accounts")
    again = applied(ours, ACME)
    assert again.is_empty
    assert (rows(ours, "tenants"), rows(ours, "accounts")) == before


def test_plan_lists_changes_and_applies_none(ours: IdentityServices) -> None:
    assert lines(planned(ours, ACME)) == [
        ("tenant", "acme", "create"),
        ("application", "shop", "create"),
        ("application", "desk", "create"),
        ("account", "Ada@example.com", "create"),
    ]
    assert rows(ours, "tenants") == []


def test_plan_shows_old_and_new_values(ours: IdentityServices) -> None:
    applied(ours, ACME)
    changed = ACME.replace("custom_uid: true", "remember_me: false").replace("first_name: Ada", "first_name: Grace")
    plan = planned(ours, changed)
    assert [detail for change in plan.changes for detail in change.details] == [
        "settings.custom_uid: true -> default",
        "settings.remember_me: default -> false",
        "FirstName: Ada -> Grace",
    ]
    assert lines(applied(ours, changed)) == lines(plan)
    assert planned(ours, changed).is_empty


def test_change_increments_tenant_version(ours: IdentityServices) -> None:
    applied(ours, ACME)
    applied(ours, ACME.replace("#123456", "#654321"))
    assert rows(ours, "tenants")[0].version == 2
    applied(ours, ACME.replace("#123456", "#654321").replace("com.desk:/cb", "com.desk:/done"))
    assert rows(ours, "tenants")[0].version == 3


def test_existing_passwords_and_secrets_are_not_overwritten(ours: IdentityServices) -> None:
    applied(ours, ACME)
    before = rows(ours, "tenants")[0].api_secret, rows(ours, "accounts")[0].password_hash
    other = (
        ACME.replace(SECRET, KEY)
        .replace("the-secret-of-the-shop", "another-secret-here")
        .replace("correct horse 1!", "battery staple 2!")
    )
    plan = applied(ours, other)
    assert plan.is_empty
    assert "unchanged; a file doesn't overwrite it" in str(plan)
    assert (rows(ours, "tenants")[0].api_secret, rows(ours, "accounts")[0].password_hash) == before
    assert {row.secret_hash for row in rows(ours, "applications")} == {
        randomness.digest("the-secret-of-the-shop"),
        None,
    }


@pytest.mark.both_databases
def test_omitted_keys_stay(ours: IdentityServices) -> None:
    applied(ours, ACME)
    assert applied(ours, "tenants: [{name: acme}]").is_empty
    assert len(rows(ours, "applications")) == 2


def test_nothing_is_removed_without_prune(ours: IdentityServices) -> None:
    applied(ours, ACME)
    shorter = re.sub(r"      - {name: desk.*\n", "", ACME)
    plan = applied(ours, shorter)
    assert "remove it with --prune" in str(plan)
    assert len(rows(ours, "applications")) == 2


@pytest.mark.both_databases
def test_prune_keeps_self_registered_accounts(ours: IdentityServices) -> None:
    applied(ours, ACME)
    applied(ours, "tenants: [{name: acme, accounts: [{email: eve@example.com, password: correct horse 3!}]}]")
    unmark(ours, "eve@example.com")
    shorter = re.sub(r"      - {name: desk.*\n", "", ACME).replace("Ada@", "grace@").replace("username: ada, ", "")
    plan = applied(ours, shorter, prune=True)
    assert {("application", "desk", "remove"), ("account", "Ada@example.com", "remove")} < set(lines(plan))
    assert {row.client_id for row in rows(ours, "applications")} == {"shop"}
    assert {row.email for row in rows(ours, "accounts")} == {"grace@example.com", "eve@example.com"}
    assert {row.value for row in rows(ours, "identifiers") if row.kind != "profile"} == {
        "grace@example.com",
        "eve@example.com",
    }


def unmark(services: IdentityServices, email: str) -> None:
    """Clear the mark of the file, as for an account that registered itself."""
    accounts = metadata.tables["accounts"]
    tenant_id = rows(services, "tenants")[0].tenant_id
    work = UnitOfWork(services.database, tenant_id)
    work.run(accounts.update().where(accounts.c.tenant_id == tenant_id, accounts.c.email == email).values(private={}))
    work.commit()


def test_omitted_keys_and_secrets_are_generated_once(ours: IdentityServices) -> None:
    text = "tenants: [{name: acme, applications: [{name: shop, redirect_uris: ['https://a.example/']}]}]"
    made = {item.key: item.value for item in applied(ours, text).generated}
    assert set(made) == {"api_key", "api_secret", "client_id", "client_secret"}
    assert ours.directory.by_key(made["api_key"]) is not None
    assert rows(ours, "applications")[0].secret_hash == randomness.digest(made["client_secret"])
    assert applied(ours, text).generated == []


def test_invalid_file_applies_nothing(ours: IdentityServices) -> None:
    applied(ours, ACME)
    broken = f"{ACME.replace('custom_uid: true', 'custom_uid: false')}  - {{name: globex, api_key: {KEY}}}\n".replace(
        f"    api_key: {KEY}\n", "", 1
    )
    with pytest.raises(ConfigurationError, match=r"f\.yaml:\d+: tenants\[1\]\.api_key: expected a key of its own"):
        applied(ours, broken)
    assert rows(ours, "tenants")[0].settings["custom_uid"] is True
    assert rows(ours, "tenants", "globex") == []


def test_changed_client_id_is_refused(ours: IdentityServices) -> None:
    applied(ours, ACME)
    with pytest.raises(ConfigurationError, match=r"expected shop; .*or give this application another name"):
        applied(ours, ACME.replace("client_id: shop", "client_id: store"))


def test_identifiers_of_two_accounts_are_refused(ours: IdentityServices) -> None:
    applied(ours, ACME)
    applied(ours, "tenants: [{name: acme, accounts: [{email: eve@example.com}]}]")
    with pytest.raises(ConfigurationError, match="belong to different ones"):
        applied(ours, ACME.replace("Ada@", "eve@"))


def test_changed_account_identifier_is_refused(ours: IdentityServices) -> None:
    applied(ours, ACME)
    with pytest.raises(ConfigurationError, match=r"expected Ada@example\.com; a file can't change an account's email"):
        applied(ours, ACME.replace("Ada@", "grace@"))


@pytest.mark.parametrize("wrong", ["birth_date: tomorrow", "gender: purple", "custom_fields: {shoe: '42'}"])
def test_invalid_profile_value_is_refused(ours: IdentityServices, wrong: str) -> None:
    text = f"tenants: [{{name: acme, accounts: [{{email: a@example.com, {wrong}}}]}}]"
    with pytest.raises(ConfigurationError, match=r"f\.yaml:1: tenants\[0\]\.accounts\[0\]: expected another value"):
        applied(ours, text)
    assert rows(ours, "tenants") == []


def test_existing_custom_field_definitions_stay(ours: IdentityServices) -> None:
    text = "tenants: [{name: acme, settings: {custom_fields: [shoe]}, accounts: [{email: a@example.com, custom_fields: {shoe: '42'}}]}]"
    applied(ours, text)
    assert rows(ours, "accounts")[0].profile["CustomFields"] == {"shoe": "42"}
    assert applied(
        ours, "tenants: [{name: acme, accounts: [{email: a@example.com, custom_fields: {shoe: '42'}}]}]"
    ).is_empty


def test_same_email_in_two_tenants_stays_separate(ours: IdentityServices) -> None:
    both = f"{ACME}  - name: globex\n    accounts: [{{email: ada@example.com, password: correct horse 4!, first_name: Ida}}]\n"
    applied(ours, both)
    assert [row.profile["FirstName"] for row in rows(ours, "accounts")] == ["Ada"]
    assert [row.profile["FirstName"] for row in rows(ours, "accounts", "globex")] == ["Ida"]


def test_applying_export_changes_nothing(ours: IdentityServices) -> None:
    applied(ours, ACME)
    written = export(ours, "acme")
    assert not re.search("secret-of|correct horse|argon2|" + SECRET, written)
    assert applied(ours, written).is_empty


@pytest.mark.parametrize(
    "beside", ["", "    url_whitelist: []\n", "    registration_form: []\n", "    settings: {}\n    brand: {}\n"]
)
def test_applying_export_of_minimal_file_changes_nothing(ours: IdentityServices, beside: str) -> None:
    """The file of the README: an application and an account."""
    applied(
        ours,
        "tenants:\n  - name: acme\n"
        f"{beside}"
        "    applications:\n      - {name: desk, redirect_uris: ['http://localhost:5000/signed-in']}\n"
        "    accounts:\n      - {email: you@example.com, password: choose-1-yourself, email_verified: true}\n",
    )
    again = planned(ours, export(ours, "acme"))
    assert [change.details for change in again.changes if change.details] == []
    assert again.is_empty


def test_export_recreates_tenant_in_another_database(ours: IdentityServices, tmp_path: Path) -> None:
    applied(ours, ACME)
    url = f"sqlite:///{tmp_path / 'elsewhere.db'}"
    migrate.upgrade(url)
    other = assemble(replace(ours.settings, database_url=url))
    applied(other, export(ours, "acme"))
    assert export(other, "acme") == export(ours, "acme")


BRANDED = """tenants:
  - name: acme
    brand:
      {scene: picture, picture: /theme/hills.jpg, background: '#faf6ee', font: 'Inter, serif', font_file: /theme/inter.woff2,
       favicon: /theme/icon.svg, logo_dark: 'https://cdn.example/dark.svg', button_shape: pill}
"""


def test_brand_is_exported_as_it_was_applied(ours: IdentityServices) -> None:
    applied(ours, BRANDED)
    exported = export(ours, "acme")
    assert all(value in exported for value in ("/theme/hills.jpg", "#faf6ee", "/theme/inter.woff2", "pill"))
    assert planned(ours, exported).is_empty


def test_running_server_sees_change_within_five_seconds(
    ours: IdentityServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(ours, ACME)
    serving = assemble(ours.settings)
    assert serving.directory.by_name("acme") is not None
    applied(ours, ACME.replace("#123456", "#654321"))
    monkeypatch.setattr(tenant_cache, "monotonic", lambda: monotonic() + 5)
    seen = serving.directory.by_name("acme")
    assert seen is not None
    assert seen.brand.color == "#654321"


WITH_CAPTCHA = """tenants:
  - name: acme
    captcha_secret: {secret}
    settings: {{captcha: {{provider: hcaptcha, site_key: public}}}}
"""


def captcha_secret(services: IdentityServices) -> str:
    stored = tenant_writes.by_name(UnitOfWork(services.database, "lookup"), "acme")
    assert stored
    assert stored.captcha_secret
    return services.encryption.decrypt(
        stored.captcha_secret, tenant_writes.captcha_associated_data(stored.tenant_id)
    ).decode()


@pytest.mark.both_databases
def test_captcha_secret_is_encrypted_and_replaceable(ours: IdentityServices) -> None:
    """The provider issues it together with the site key, so both must be replaceable."""
    first = applied(ours, WITH_CAPTCHA.format(secret="from the provider"))
    assert captcha_secret(ours) == "from the provider"
    assert applied(ours, WITH_CAPTCHA.format(secret="from the provider")).is_empty
    second = applied(ours, WITH_CAPTCHA.format(secret="another one of it"))
    assert captcha_secret(ours) == "another one of it"
    assert "captcha_secret: changed" in str(second)
    assert "of it" not in str(first) + str(second) + export(ours, "acme")
    applied(ours, export(ours, "acme"))
    assert captcha_secret(ours) == "another one of it"


def test_captcha_secret_is_reencrypted(ours: IdentityServices) -> None:
    applied(ours, WITH_CAPTCHA.format(secret="from the provider"))
    ours.encryption = Encryption((b"1" * 32, SERVICE_SECRET))
    assert reencrypt(ours) == 2  # the API secret is the other; no signing key was needed yet
    ours.encryption = Encryption((b"1" * 32,))
    assert captcha_secret(ours) == "from the provider"


@pytest.mark.both_databases
def test_reencryption_adds_missing_api_secret_hash(ours: IdentityServices) -> None:
    applied(ours, ACME)
    work = UnitOfWork(ours.database, rows(ours, "tenants")[0].tenant_id)
    with work.separate_transaction() as own:
        tenant_writes.change(own, api_secret_hash=None)
    ours.directory.clear_cache()
    assert ours.directory.by_secret(SECRET) is None
    reencrypt(ours)
    found = ours.directory.by_secret(SECRET)
    assert found is not None
    assert found.name == "acme"


def test_captcha_provider_without_secret_is_refused(ours: IdentityServices) -> None:
    with pytest.raises(ConfigurationError, match=r"captcha_secret.*expected the secret of settings.captcha.provider"):
        applied(ours, "tenants: [{name: acme, settings: {captcha: {provider: tencent, site_key: x}}}]")
    with pytest.raises(ConfigurationError, match=r"site_key.*expected the key that tencent gave you"):
        applied(ours, "tenants: [{name: acme, captcha_secret: x, settings: {captcha: {provider: tencent}}}]")


def test_question_lockout_without_questions_is_refused(ours: IdentityServices) -> None:
    with pytest.raises(ConfigurationError, match="security_questions has no questions"):
        applied(ours, "tenants: [{name: acme, settings: {lockout: {type: security_question}}}]")
