"""Linked identities: the profile, uniqueness, unlinking, and removal when the owner claims the account."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from app.identity.authentication.federation import token_handoff
from app.identity.authentication.verification import phone_verification
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.directory.identity_provider import ProviderIdentity
from app.kit import randomness
from tests.support.accounts import social_accounts
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.accounts.registering import UNLIMITED, register
from tests.support.accounts.social_accounts import (
    ADA,
    CONNECTIONS,
    ONE_STORE,
    SOCIAL,
    VICTIM,
    account_of,
    doing,
    identities,
)
from tests.support.credentials.passkeys import passkey_holder
from tests.support.operation_cases.cases import account_holder, events
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

SOCIAL_IDENTITY = "/identity/v2/auth/socialidentity"

# The profile.


@ONE_STORE
def test_profile_lists_identity_beside_own_data(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    before = answered(who.own("U15"))
    assert before["Identities"] is None
    social_accounts.linked_to(who.tenant, who.uid, ADA)
    profile = answered(who.own("U15"))
    (entry,) = profile["Identities"]
    assert {name: entry[name] for name in ("ID", "Provider", "FirstName", "FullName", "ImageUrl", "Email")} == {
        "ID": "108", "Provider": "google", "FirstName": "Ada", "FullName": "Ada King",
        "ImageUrl": "https://pics.example/ada.png", "Email": [{"Type": "Primary", "Value": "Ada@elsewhere.test"}],
    }  # fmt: skip
    assert not entry.keys() & {"Uid", "Password", "Roles", "PhoneId", "NoOfLogins", "IsActive", "Identities"}
    changed = {"Identities", "ModifiedDate"}
    assert {name for name in profile if profile[name] != before[name]} == changed, (
        "the provider's data does not change the account's own"
    )
    (listed,) = answered(who.tenant.send("GET", f"{MANAGE}/identities", email=who.email))["Data"]
    assert listed["Identities"] == profile["Identities"]


@ONE_STORE
def test_identity_shows_latest_data_of_provider(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    social_accounts.linked_to(who.tenant, who.uid, ADA)
    since = who.tenant.read(who.uid)["Identities"][0]["SignupDate"]
    who.advance_clock(minutes=1)
    with doing(who.tenant) as call:
        linked_identities.record_use(
            call, account_of(call, who.uid), replace(ADA, email="new@elsewhere.test", profile={"NickName": "\u202eA"})
        )
    (entry,) = who.tenant.read(who.uid)["Identities"]
    assert (entry["Email"][0]["Value"], entry["FirstName"], entry["SignupDate"]) == ("new@elsewhere.test", None, since)
    assert entry["LastLoginDate"] > since


@ONE_STORE
def test_provider_of_profile_is_sign_in_method_of_account(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(username_login=True, email_login=True, **SOCIAL)
    alone, mailed = (
        social_accounts.without_password(tenant, social_accounts.new_identity("github"), email=email)
        for email in ("", VICTIM)
    )
    assert [tenant.read(uid)["Provider"] for uid in (alone, mailed)] == ["github", "Email"]


# One account per identity.


@pytest.mark.both_databases
def test_parallel_links_of_one_identity_reach_one_account(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(**SOCIAL)
    uids = [str(tenant.create()["Uid"]) for _ in range(2)]
    tokens = [str(tenant.tokens(uid)["access_token"]) for uid in uids]
    shown = [social_accounts.candidate(tenant, ADA) for _ in range(RACERS)]
    path = "/identity/v2/auth/socialidentity"
    acts = [
        partial(tenant.send, "POST", path, {"candidatetoken": item}, bearer=tokens[number % 2])
        for number, item in enumerate(shown)
    ]
    statuses = [(number % 2, answer.status_code) for number, answer in enumerate(at_once(acts))]
    winner = next(who for who, status in statuses if status == 200)
    assert {who for who, status in statuses if status == 200} == {winner}
    assert Counter(statuses)[1 - winner, 403] == RACERS // 2
    assert [identities(tenant, uid) for uid in uids] == [["google 108"] if n == winner else [] for n in (0, 1)]


@pytest.mark.both_databases
def test_parallel_uses_of_one_candidate_link_once(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    shown, bearer = social_accounts.candidate(who.tenant, ADA), who.bearer
    del bearer
    statuses = Counter(
        answer.status_code for answer in at_once([lambda: who.own("U29", {"candidatetoken": shown})] * 20)
    )
    assert statuses == {200: 1, 403: 19}
    assert [name for name, _ in events(who.tenant)].count("LinkAccount") == 1


@pytest.mark.both_databases
def test_parallel_unlinking_keeps_last_sign_in_method(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(username_login=True, **SOCIAL)
    first, second = social_accounts.new_identity(), social_accounts.new_identity("github")
    uid = social_accounts.without_password(tenant, first)
    social_accounts.linked_to(tenant, uid, second)
    bearer = str(tenant.tokens(uid)["access_token"])
    bodies = [{"provider": item.provider, "providerid": item.subject} for item in (first, second) * 10]
    path = "/identity/v2/auth/socialidentity"
    answers = at_once([partial(tenant.send, "DELETE", path, body, bearer=bearer) for body in bodies])
    assert [answer.status_code for answer in answers].count(200) == 1
    assert len(identities(tenant, uid)) == 1


@ONE_STORE
def test_identity_is_unlinked_only_beside_another_sign_in_method(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(username_login=True, email_login=True, **SOCIAL)

    def unlink(uid: str, item: ProviderIdentity) -> bool:
        bearer = str(tenant.tokens(uid)["access_token"])
        body = {"provider": item.provider, "providerid": item.subject}
        return tenant.send("DELETE", "/identity/v2/auth/socialidentity", body, bearer=bearer).status_code == 200

    mailed, alone, closed, open_ = (social_accounts.new_identity() for _ in range(4))
    assert unlink(social_accounts.without_password(tenant, mailed, email=VICTIM), mailed), "a reset by email remains"
    assert not unlink(social_accounts.without_password(tenant, alone), alone)
    foreign = social_accounts.without_password(tenant, closed)
    social_accounts.linked_to(tenant, foreign, social_accounts.new_identity("myspace"))
    assert not unlink(foreign, closed), "the other connection does not exist"
    other = social_accounts.without_password(tenant, open_)
    social_accounts.linked_to(tenant, other, social_accounts.new_identity("github"))
    assert unlink(other, open_)


OFF = {"connections": {**CONNECTIONS, "github": {"key": "h", "is_active": False}}}
NUMBER = {"phone": "+442079460123", "phone_verified": True}
HASH = {"password_hash": "$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$c2FsdA"}
UNVERIFIED = {"email": "new@example.test", "emails": [{"Type": "Primary", "Value": "new@example.test"}]}
VERIFIED = {**UNVERIFIED, "email_verified": True}
LEFT: dict[str, tuple[dict[str, Any], dict[str, Any], bool]] = {
    "nothing": ({}, {}, False),
    "an identity at a connection that is off": (OFF, {}, False),
    "an unverified email": ({}, UNVERIFIED, False),
    "an unverified email and a password": ({}, {**UNVERIFIED, **HASH}, True),
    "a verified email at a tenant without sign-in by email": (
        {"email_login": False},
        {**VERIFIED, "username": None},
        False,
    ),
    "a verified email and a username there": ({"email_login": False}, {**VERIFIED, "username": "nina"}, True),
    "a password without a name to type": ({"username_login": False}, HASH, False),
    "a number at a tenant without sign-in by phone": ({}, NUMBER, False),
    "a number at a tenant with it": ({"phone_login": True}, NUMBER, True),
}


@ONE_STORE
@pytest.mark.parametrize(("settings", "columns", "can_leave"), LEFT.values(), ids=LEFT)
def test_identity_stays_where_nothing_else_signs_in(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], columns: dict[str, Any], can_leave: bool
) -> None:
    tenant, item = (
        new_tenant_server(**{**SOCIAL, "username_login": True, "email_login": True}),
        social_accounts.new_identity(),
    )
    uid = social_accounts.without_password(tenant, item)
    if settings is OFF:
        social_accounts.linked_to(tenant, uid, social_accounts.new_identity("github"))
    with doing(tenant) as call:
        account_store.change(call, uid, columns) if columns else None
    tenant.change_settings(**settings)
    bearer = str(tenant.tokens(uid)["access_token"])
    answer = tenant.send(
        "DELETE", SOCIAL_IDENTITY, {"provider": item.provider, "providerid": item.subject}, bearer=bearer
    )
    assert (answer.status_code == 200) is can_leave, answer.text


@ONE_STORE
def test_passkey_remains_only_where_passkeys_sign_in(new_tenant_server: NewTenantServer) -> None:
    holder, item = passkey_holder(new_tenant_server, **SOCIAL).add_passkey(), social_accounts.new_identity()
    tenant = holder.tenant
    social_accounts.linked_to(tenant, holder.uid, item)
    with doing(tenant) as call:
        account_store.change(call, holder.uid, {"password_hash": None, "email_verified": False})
    body, bearer = (
        {"provider": item.provider, "providerid": item.subject},
        str(tenant.tokens(holder.uid)["access_token"]),
    )
    tenant.change_settings(passkeys=False)
    assert refused(tenant.send("DELETE", SOCIAL_IDENTITY, body, bearer=bearer))[0] == 403
    tenant.change_settings(passkeys=True)
    answered(tenant.send("DELETE", SOCIAL_IDENTITY, body, bearer=bearer))


@ONE_STORE
def test_identity_is_unique_per_provider_and_tenant(new_tenant_server: NewTenantServer) -> None:
    acme, globex = new_tenant_server(**SOCIAL), new_tenant_server(**SOCIAL)
    uids = [str(acme.create()["Uid"]) for _ in range(3)]
    cases = [ADA, replace(ADA, provider="github"), replace(ADA, subject="108 ")]
    for uid, case in zip(uids, cases, strict=True):
        social_accounts.linked_to(acme, uid, case)
    social_accounts.linked_to(globex, globex.create()["Uid"], ADA)
    with doing(acme) as call:
        found = [linked_identities.find_account(call, item.provider, item.subject) for item in cases]
        assert [item and item.uid for item in found] == uids
        assert linked_identities.find_account(call, "google github", "108") is None
    with doing(globex) as call:
        other = linked_identities.find_account(call, "google", "108")
        assert other is not None
        assert other.uid not in uids


@ONE_STORE
def test_identities_per_account_are_limited(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    for _ in range(linked_identities.MAX_IDENTITIES):
        answered(
            who.own("U29", {"candidatetoken": social_accounts.candidate(who.tenant, social_accounts.new_identity())})
        )
    assert refused(who.own("U29", {"candidatetoken": social_accounts.candidate(who.tenant, ADA)})) == (403, 983)
    assert len(identities(who.tenant, who.uid)) == linked_identities.MAX_IDENTITIES


@ONE_STORE
def test_deleted_account_releases_its_identities(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(**SOCIAL)
    first, second = (str(tenant.create()["Uid"]) for _ in range(2))
    social_accounts.linked_to(tenant, first, ADA)
    answered(tenant.send("DELETE", f"{MANAGE}/{first}"))
    social_accounts.linked_to(tenant, second, ADA)
    assert identities(tenant, second) == ["google 108"]


# Identities that were linked before the owner of the address claimed the account.


@ONE_STORE
@pytest.mark.parametrize("method", ["reset", "mailed sign-in", "code to the number"])
def test_claim_by_owner_removes_identity_linked_before(new_tenant_server: NewTenantServer, method: str) -> None:
    tenant = new_tenant_server(
        email_verification="optional",
        passwordless_email=True,
        phone_login=True,
        email_login=True,
        limits=UNLIMITED,
        **SOCIAL,
    )
    uid = str(answered(register(tenant, VICTIM, PhoneId="+493012345678"))["Data"]["Profile"]["Uid"])
    social_accounts.linked_to(tenant, uid, ADA)
    send = partial(tenant.send, with_secret=False)
    if method == "code to the number":
        with doing(tenant) as call:
            phone_verification.confirm(call, OneTimeToken(Purpose.PHONE, uid, "+493012345678", {}, call.now))
    elif method == "reset":
        answered(send("POST", "/identity/v2/auth/password", {"email": VICTIM}))
        token = next(
            token_in(item) for item in mails_to(tenant.services, tenant.tenant_id, VICTIM) if "/r/" in str(item["text"])
        )
        answered(
            send("PUT", "/identity/v2/auth/password/reset", {"resettoken": token, "password": "Quartz-lantern-58"})
        )
    else:
        answered(send("GET", "/identity/v2/auth/login/passwordlesslogin/email", email=VICTIM))
        token = token_in(mails_to(tenant.services, tenant.tenant_id, VICTIM)[-1])
        answered(send("GET", "/identity/v2/auth/login/passwordlesslogin/email/verify", verificationtoken=token))
    assert identities(tenant, uid) == []
    with doing(tenant) as call:
        assert linked_identities.find_account(call, ADA.provider, ADA.subject) is None
        with pytest.raises(linked_identities.NotLinked):
            linked_identities.record_use(call, account_of(call, uid), ADA)


@ONE_STORE
def test_session_revoked_during_link_links_nothing(
    new_tenant_server: NewTenantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    shown, found = social_accounts.candidate(who.tenant, ADA), token_handoff.find_candidate

    def revoke_then_find(*values: Any) -> Any:
        with doing(who.tenant) as call:
            tokens.revoke_all(call, who.uid)
        return found(*values)

    monkeypatch.setattr(token_handoff, "find_candidate", revoke_then_find)
    assert refused(who.own("U29", {"candidatetoken": shown})) == (401, 1409)
    assert identities(who.tenant, who.uid) == []


@ONE_STORE
@pytest.mark.parametrize("is_taken", [False, True])
def test_activated_account_keeps_identity_unless_linked_since(
    new_tenant_server: NewTenantServer, is_taken: bool
) -> None:
    tenant = new_tenant_server(username_login=True, **SOCIAL)
    uid = social_accounts.without_password(tenant, ADA)
    with doing(tenant) as call:
        stored = pending_accounts.pending_columns(vars(account_of(call, uid)))
        account_store.remove(call, uid)
        pending_accounts.add(call, VICTIM, {**stored, "uid": randomness.uid(), "email": VICTIM})
    other = str(tenant.create()["Uid"])
    if is_taken:
        social_accounts.linked_to(tenant, other, ADA)
    with doing(tenant) as call:
        (pending,) = [item for item in [pending_accounts.only_pending(call, VICTIM)] if item]
        settled = pending_accounts.activate(call, pending.uid)
        assert settled is not None
    assert identities(tenant, settled.uid) == ([] if is_taken else ["google 108"])
    with doing(tenant) as call:
        held_by = linked_identities.find_account(call, "google", "108")
        assert held_by is not None
        assert held_by.uid == (other if is_taken else settled.uid)
