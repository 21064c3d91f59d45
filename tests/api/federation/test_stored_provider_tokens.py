"""Kept tokens of providers end with their identity, their account and the setting (decision 0132)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.contract.federation import connection_completion
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.reencryption import reencrypt
from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.directory.accounts import account_store, linked_identities, provider_tokens
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.encryption import Encryption
from app.identity.use_cases.accounts import deletion
from tests.support.accounts import social_accounts
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.accounts.social_accounts import account_of, doing
from tests.support.accounts.stored_tokens import (
    KEEPS,
    NAME,
    SocialAccount,
    encrypted_texts,
    entries,
    social_account,
    stored_rows,
)
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.services.identity_service import SECRET, on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

NEXT = b"another secret of the tests, as long as the first"


def gone(item: SocialAccount, former: list[str]) -> bool:
    """Return whether none of the encrypted texts is in the database."""
    everything = stored_rows(item.tenant)
    return entries(item.tenant) == {} and not any(text in everything for text in former)


def unlink(item: SocialAccount) -> None:
    answered(item.who.own("U31", {"provider": NAME, "providerid": "ada-1815"}))


def delete(item: SocialAccount) -> None:
    answered(item.tenant.send("DELETE", f"{MANAGE}/{item.who.uid}"))


def mark_deleted(item: SocialAccount) -> None:
    item.who.update_account(IsDeleted=True)


def delete_by_owner(item: SocialAccount) -> None:
    with doing(item.tenant) as call:
        deletion.delete(call, item.who.uid)


def claim(item: SocialAccount) -> None:
    """Unlink every identity, as for the owner of an address that another person registered."""
    with doing(item.tenant) as call:
        account = account_store.lock(call, item.who.uid)
        assert account is not None
        private = dict(account.private)
        linked_identities.unlink_all(call, account, private)
        account_store.change(call, item.who.uid, {"private": private})


@pytest.mark.both_databases
@pytest.mark.parametrize("end", [unlink, delete, mark_deleted, delete_by_owner, claim])
def test_tokens_are_gone_after_identity_or_account(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, end: Any
) -> None:
    item = social_account(new_tenant_server, fake_provider, deletion_days=30)
    former = encrypted_texts(entries(item.tenant))
    assert len(former) == 1
    end(item)
    assert gone(item, former)


@on_one_database
def test_tokens_of_other_identities_stay(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    item.signs_in(sub="second-identity")
    assert len(encrypted_texts(entries(item.tenant))) == 2
    unlink(item)
    assert len(encrypted_texts(entries(item.tenant))) == 1
    assert answered(item.refresh())["Identities"][0]["ID"] == "second-identity"


# The setting.


def applied(tenant: TenantServer, connections: dict[str, Any]) -> None:
    """Apply a configuration file with these connections."""
    text = f"tenants: [{{name: {tenant.name}, connections: {connections!r}}}]"
    text = text.replace("True", "true").replace("False", "false")
    apply_configuration.apply(tenant.services, read(text.encode(), "f.yaml", Path()))
    tenant.services.directory.clear_cache()


@pytest.mark.parametrize("other", [{"keep_provider_tokens": False}, {"key": "another-client"}, None])
def test_file_that_ends_keeping_deletes_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, other: dict[str, Any] | None
) -> None:
    item, unaffected = (social_account(new_tenant_server, fake_provider) for _ in range(2))
    former, connection = encrypted_texts(entries(item.tenant)), fake_provider.openid(**KEEPS)
    applied(item.tenant, {NAME: {**connection, "title": "Globex"}})
    assert encrypted_texts(entries(item.tenant)) == former
    before = item.tenant.read(item.who.uid)
    applied(item.tenant, {NAME: {**connection, **other}} if other is not None else {})
    assert gone(item, former)
    assert refused(item.refresh()) == (403, 910)
    after = item.tenant.read(item.who.uid)
    assert {name for name in after if after[name] != before[name]} == {"ProviderAccessCredential", "Identities"}
    assert {**before["Identities"][0], "ProviderAccessCredential": None} == after["Identities"][0]
    answered(unaffected.refresh())


@pytest.mark.both_databases
def test_tokens_of_other_connections_stay(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    connection = fake_provider.openid(**KEEPS)
    item = social_account(new_tenant_server, fake_provider, connection=connection)
    item.tenant.change_settings(connections={NAME: connection, "a-second_one": connection})
    SocialAccount(item.who, fake_provider, "a-second_one").signs_in()
    applied(
        item.tenant, {NAME: {**connection, **KEEPS}, "a-second_one": fake_provider.openid(keep_provider_tokens=False)}
    )
    (entry,) = entries(item.tenant).values()
    assert list(entry) == [NAME]


@on_one_database
def test_management_program_that_changes_client_deletes_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider, name="google")
    former = encrypted_texts(entries(item.tenant))
    token = machine(item.tenant, "all")
    path = "/v2/manage/providers/GOOGLE"
    answered(ask(item.tenant, token, "PUT", path, {"Secret": "another secret"}))
    assert encrypted_texts(entries(item.tenant)) == former
    answered(ask(item.tenant, token, "PUT", path, {"Key": "another-client"}))
    assert gone(item, former)


@on_one_database
def test_sign_in_with_setting_off_deletes_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    former = encrypted_texts(entries(item.tenant))
    item.tenant.change_settings(connections={NAME: fake_provider.openid()})
    item.signs_in()
    assert gone(item, former)


# Until an identity is linked.


@on_one_database
def test_candidate_of_a_program_brings_its_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider)
    unlink(item)
    claimed, _ = finished(item.tenant, fake_provider.signs_in(led(item.tenant, NAME)))
    assert entries(item.tenant) == {}
    answered(item.who.own("U29", {"candidatetoken": social_accounts.candidate(item.tenant, claimed)}))
    assert item.stored()["access_token"] in fake_provider.tokens
    former = encrypted_texts(entries(item.tenant))
    unlink(item)
    assert gone(item, former)


@on_one_database
@pytest.mark.database_alone
def test_tokens_of_unlinked_identity_expire(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    unlink(item)
    claimed, _ = finished(item.tenant, fake_provider.signs_in(led(item.tenant, NAME)))
    assert claimed.kept_tokens is not None
    assert claimed.kept_tokens not in repr(claimed)
    item.who.advance_clock(hours=2)
    social_accounts.linked_to(item.tenant, item.who.uid, claimed)
    assert entries(item.tenant) == {}
    assert '"provider_tokens"' in stored_rows(item.tenant)
    clean(item.tenant.services.database, item.tenant.services.clock.now() + timedelta(days=2))
    assert '"provider_tokens"' not in stored_rows(item.tenant)


@on_one_database
def test_pending_account_has_no_tokens(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    with doing(item.tenant) as call:
        account = account_of(call, item.who.uid)
        private = pending_accounts.pending_columns(vars(account))["private"]
    assert provider_tokens.KEY in account.private
    assert provider_tokens.KEY not in private
    assert linked_identities.of(replace(account, private=private)) == linked_identities.of(account)


@on_one_database
@pytest.mark.parametrize("keeps", [True, False])
def test_google_is_asked_for_refresh_token(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    monkeypatch.setattr(connection_completion, "GOOGLE", fake_provider.url)
    tenant = new_tenant_server()
    fake_provider.known_to(tenant, NAME, keep_provider_tokens=keeps)
    assert query_of(led(tenant, NAME)).get("access_type") == ("offline" if keeps else None)


# Rotation of the secret, and ids.


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_tokens_survive_rotation_of_the_secret(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    item = social_account(new_tenant_server, fake_provider)
    services = item.tenant.services
    item.signs_in(sub="second-identity")
    first, former = encrypted_texts(entries(item.tenant)), item.tenant.read(item.who.uid)
    services.encryption = Encryption((NEXT, SECRET))
    count = reencrypt(services)
    assert reencrypt(services) == 0
    second = encrypted_texts(entries(item.tenant))
    assert (len(second), set(first) & set(second)) == (2, set())
    assert count >= 2
    services.encryption = Encryption((NEXT,))
    services.directory.clear_cache()
    assert item.tenant.read(item.who.uid) == former
    answered(item.refresh())


@on_one_database
def test_tokens_are_bound_to_tenant_and_identity(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item, other = (social_account(new_tenant_server, fake_provider) for _ in range(2))
    (encrypted,) = encrypted_texts(entries(item.tenant))
    with doing(other.tenant) as call:
        account = account_of(call, other.who.uid)
        ((_, subjects),) = account.private[provider_tokens.KEY].items()
        foreign = {NAME: {subject: {**entry, "sealed": encrypted} for subject, entry in subjects.items()}}
        changed = account_store.change(
            call, account.uid, {"private": {**account.private, provider_tokens.KEY: foreign}}
        )
        assert changed is not None
        (linked,) = linked_identities.of(changed)
        assert provider_tokens.usable(call, changed, linked.key) is None
    assert other.identity()["ProviderAccessCredential"] is None
    other.signs_in()
    answered(other.refresh())


@on_one_database
def test_tokens_stay_with_account_under_new_uid(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    item = social_account(new_tenant_server, fake_provider, custom_uid=True)
    answered(item.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=item.who.uid))
    assert answered(item.refresh())["Uid"] == "ada-1"
