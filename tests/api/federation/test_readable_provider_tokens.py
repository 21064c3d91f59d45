"""Servers with the power to read tokens see the kept access token of each identity, and nobody else does (decision 0132)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.connecting import finished, led
from tests.support.accounts.social_accounts import linked_to
from tests.support.accounts.stored_tokens import KEEPS, NAME, SocialAccount, entries, social_account, stored_rows
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered

pytestmark = on_one_database
Members = dict[str, Any]
Credential = Members | None


@pytest.fixture
def item(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> SocialAccount:
    return social_account(new_tenant_server, fake_provider)


def shown(profile: Members) -> tuple[Credential, list[Credential]]:
    """Return the member of the account, and those of its identities."""
    identities = profile["Identities"] or []
    return profile["ProviderAccessCredential"], [entry["ProviderAccessCredential"] for entry in identities]


def read(item: SocialAccount) -> tuple[Credential, list[Credential]]:
    return shown(item.tenant.read(item.who.uid))


def credential(token: str) -> Members:
    return {"AccessToken": token, "TokenSecret": None}


def test_server_reads_the_token_that_the_provider_takes(item: SocialAccount) -> None:
    of_account, of_identities = read(item)
    token = item.stored()["access_token"]
    assert (of_account, of_identities) == (credential(token), [credential(token)])
    assert token in item.provider.tokens


@pytest.mark.parametrize(
    ("path", "by_email"), [(f"{MANAGE}/UID", False), (MANAGE, True), (f"{MANAGE}/identities", True)]
)
@pytest.mark.parametrize(
    ("scopes", "is_shown"),
    [(("profile:read",), False), (("profile:read", "token:read"), True), (("all",), True), ((), True)],
    ids=["profiles", "tokens", "all", "key and secret"],
)
def test_token_needs_its_own_scope(
    item: SocialAccount, path: str, scopes: tuple[str, ...], *, by_email: bool, is_shown: bool
) -> None:
    tenant, path = item.tenant, path.replace("UID", item.who.uid)
    query: Members = {"email": item.who.email} if by_email else {}
    token = machine(tenant, *scopes) if scopes else ""
    answer = ask(tenant, token, "GET", path, **query) if scopes else tenant.send("GET", path, **query)
    body = answered(answer)
    of_account, of_identities = shown(body["Data"][0] if "Data" in body else body)
    assert (bool(of_account), [bool(found) for found in of_identities]) == (is_shown, [is_shown])


def test_person_reads_no_token_of_the_provider(item: SocialAccount) -> None:
    own = answered(item.tenant.send("GET", "/identity/v2/auth/account", bearer=item.who.bearer))
    assert shown(own) == (None, [None])
    assert shown(answered(item.refresh())) == (None, [None])


def test_fields_select_the_member(item: SocialAccount) -> None:
    expected = credential(item.stored()["access_token"])
    read_fields = {
        "provideraccesscredential": {"ProviderAccessCredential": expected},
        "Identities(ProviderAccessCredential)": {"Identities": [{"ProviderAccessCredential": expected}]},
        "Identities/*/AccessToken": None,
        "Uid": {"Uid": item.who.uid},
    }
    for fields, members in read_fields.items():
        profile = item.tenant.read(item.who.uid, fields=fields)
        assert members is None or profile == members, fields


def test_account_has_the_token_of_the_latest_sign_in(item: SocialAccount) -> None:
    item.who.advance_clock(minutes=1)
    item.signs_in(sub="second-identity")
    of_account, of_identities = read(item)
    assert of_account == of_identities[1] != of_identities[0]
    item.who.advance_clock(minutes=1)
    item.signs_in()
    of_account, of_identities = read(item)
    assert of_account == of_identities[0] != of_identities[1]


def expire(item: SocialAccount) -> None:
    item.who.advance_clock(seconds=301)


def turn_off(item: SocialAccount) -> None:
    item.tenant.change_settings(connections={NAME: item.provider.openid()})


def deactivate(item: SocialAccount) -> None:
    item.tenant.change_settings(connections={NAME: item.provider.openid(**KEEPS, is_active=False)})


def change_client(item: SocialAccount) -> None:
    item.tenant.change_settings(connections={NAME: {**item.provider.openid(**KEEPS), "key": "another-client"}})


def remove_connection(item: SocialAccount) -> None:
    item.tenant.change_settings(connections={})


@pytest.mark.parametrize("end", [expire, turn_off, deactivate, change_client, remove_connection])
def test_token_that_is_of_no_use_is_absent(item: SocialAccount, end: Any) -> None:
    assert read(item)[0] is not None
    end(item)
    assert read(item) == (None, [None])


def test_profile_that_is_written_back_stores_no_token(item: SocialAccount) -> None:
    profile = item.tenant.read(item.who.uid)
    token = profile["ProviderAccessCredential"]["AccessToken"]
    body = {name: value for name, value in profile.items() if name not in ("Password", "Email")}
    changed = item.tenant.update(item.who.uid, {**body, "FirstName": "Augusta"})
    assert changed["FirstName"] == "Augusta"
    assert token not in stored_rows(item.tenant)
    assert read(item)[0] == credential(token)


FORGED = {"AccessToken": "forged", "TokenSecret": "forged"}


def test_token_of_the_provider_cannot_be_replaced(item: SocialAccount) -> None:
    expected = credential(item.stored()["access_token"])
    answered(item.who.own("U16", {"ProviderAccessCredential": FORGED, "FirstName": "Eve"}))
    program = machine(item.tenant, "profile:update", "token:read")
    body = {"ProviderAccessCredential": FORGED, "Identities": [{"ProviderAccessCredential": FORGED}], "LastName": "Eve"}
    shown_to_program = answered(ask(item.tenant, program, "PUT", f"{MANAGE}/{item.who.uid}", body))
    assert (shown_to_program["FirstName"], shown_to_program["LastName"]) == ("Eve", "Eve")
    assert shown(shown_to_program) == read(item) == (expected, [expected])
    assert "forged" not in stored_rows(item.tenant)


def test_earlier_text_is_not_taken_for_the_providers(item: SocialAccount) -> None:
    turn_off(item)
    item.signs_in()
    answered(item.who.own("U16", {"ProviderAccessCredential": FORGED}))
    assert read(item) == (FORGED, [None])
    item.tenant.change_settings(connections={NAME: item.provider.openid(**KEEPS)})
    item.signs_in()
    expected = credential(item.stored()["access_token"])
    assert read(item) == (expected, [expected])
    expire(item)
    assert read(item) == (None, [None])


def test_token_that_a_server_wrote_stays(item: SocialAccount) -> None:
    other = item.tenant.create()["Uid"]
    written = {"AccessToken": "written", "TokenSecret": "of the server"}
    item.tenant.update(other, {"ProviderAccessCredential": written})
    assert item.tenant.read(other)["ProviderAccessCredential"] == written


def test_list_of_accounts_decrypts_no_token(item: SocialAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        uid = str(item.tenant.create()["Uid"])
        claimed, _ = finished(item.tenant, item.provider.signs_in(led(item.tenant, NAME), sub=f"person-{number}"))
        linked_to(item.tenant, uid, claimed)
    assert len(entries(item.tenant)) == 6
    opened = decrypted_tokens(item.tenant, monkeypatch)
    token = machine(item.tenant, "profile:read", "token:read")
    listed = answered(ask(item.tenant, token, "GET", "/v2/manage/accounts"))["Data"]
    item.tenant.read(item.who.uid, fields="Uid,Provider,FirstName")
    assert (len(listed), opened) == (6, [])
    read(item)
    assert len(opened) == 1


def decrypted_tokens(tenant: TenantServer, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets an entry for each decryption of a provider's tokens."""
    opened: list[str] = []
    encryption = tenant.services.encryption
    decrypt = encryption.decrypt

    def recorded(value: bytes, place: str) -> bytes:
        if "provider tokens" in place:
            opened.append(place)
        return decrypt(value, place)

    monkeypatch.setattr(encryption, "decrypt", recorded)
    return opened


def test_same_identity_at_two_tenants_has_two_tokens(
    item: SocialAccount, new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    other = social_account(new_tenant_server, fake_provider)
    assert read(item)[0] == credential(item.stored()["access_token"]) != read(other)[0]
    assert read(other)[0] == credential(other.stored()["access_token"])
