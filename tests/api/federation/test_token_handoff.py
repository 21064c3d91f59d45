"""Request tokens, client GUIDs and candidate tokens: how programs receive a federated sign-in (decision 0131)."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from werkzeug.test import TestResponse

from app.identity.authentication.federation import token_handoff
from tests.support.accounts import social_accounts
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.accounts.social_accounts import (
    ADA,
    NO_CALLBACK,
    ONE_STORE,
    SOCIAL,
    VICTIM,
    account_of,
    doing,
    identities,
)
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

A26 = "/api/v2/access_token"


def exchange(tenant: TenantServer, token: str) -> TestResponse:
    return tenant.send("GET", A26, token=token)


@pytest.mark.both_databases
def test_request_token_is_exchanged_once(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    token = social_accounts.request_token(who.tenant, who.uid)
    answers = at_once([lambda: exchange(who.tenant, token)] * RACERS)
    assert Counter(refused(answer) for answer in answers if answer.status_code != 200) == {(403, 903): RACERS - 1}
    session = next(answered(answer) for answer in answers if answer.status_code == 200)
    who.stored_token = str(session["access_token"])
    assert answered(who.own("U15"))["Uid"] == who.uid
    assert (
        answered(who.tenant.send("GET", "/identity/v2/auth/access_token", bearer=who.stored_token))["provider"]
        == "google"
    )
    assert session["expires_in"].endswith("Z")
    assert refused(exchange(who.tenant, token)) == (403, 903)


def after_expiry(who: AccountHolder) -> None:
    who.advance_clock(minutes=16)


def after_password_change(who: AccountHolder) -> None:
    answered(who.tenant.send("PUT", f"{MANAGE}/{who.uid}/password", {"password": "Quartz-lantern-58"}))


@ONE_STORE
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (after_expiry, 904),
        (after_password_change, 903),
        (lambda who: who.update_account(IsActive=False), 903),
        (lambda who: answered(who.tenant.send("DELETE", f"{MANAGE}/{who.uid}")), 903),
    ],
    ids=["late", "new password", "blocked", "removed"],
)
def test_request_token_ends_with_its_account_state(
    new_tenant_server: NewTenantServer, change: object, code: int
) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    token = social_accounts.request_token(who.tenant, who.uid)
    stored = social_accounts.signed_in_with(who.tenant, who.uid)
    assert callable(change)
    change(who)
    assert refused(exchange(who.tenant, token)) == (403, code)
    assert refused(who.call("U13", clientguid=stored)) == (403, 1140)


@ONE_STORE
def test_request_token_exchange_requires_tenant_secret(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **SOCIAL), new_tenant_server(**SOCIAL)
    token = social_accounts.request_token(who.tenant, who.uid)
    by_query = partial(who.tenant.send, "GET", A26, with_secret=False, token=token)
    assert refused(by_query()) == (400, 923)
    assert refused(by_query(secret="x" * 36))[1] == 902
    assert refused(exchange(other, token)) == (403, 903)
    assert refused(who.tenant.send("GET", A26)) == (400, 908)
    assert answered(by_query(apikey=None, secret=who.tenant.api_secret))["refresh_token"]


@pytest.mark.both_databases
def test_client_guid_returns_finished_browser_sign_in_once(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    answered(who.logs_in())
    stored = social_accounts.began(who.tenant)
    assert refused(who.call("U13", clientguid=stored)) == (403, 1140), "the browser has not finished"
    social_accounts.signed_in_with(who.tenant, who.uid, stored)
    answers = at_once([lambda: who.call("U13", clientguid=stored, fields="Uid,NoOfLogins")] * RACERS)
    assert Counter(refused(answer) for answer in answers if answer.status_code != 200) == {(403, 1140): RACERS - 1}
    session = next(answered(answer) for answer in answers if answer.status_code == 200)
    assert session["Profile"] == {"Uid": who.uid, "NoOfLogins": 1}, "the browser's sign-in is counted once"
    who.stored_token = str(session["access_token"])
    assert answered(who.own("U15"))["Uid"] == who.uid


@ONE_STORE
def test_client_guid_is_well_formed_unused_and_expires(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **NO_CALLBACK), new_tenant_server(**NO_CALLBACK)
    stored = social_accounts.signed_in_with(who.tenant, who.uid)
    for refusal, text in ((1140, "12345"), (1140, f"{social_accounts.guid()}\n"), (1140, "x" * 101), (1136, stored)):
        with doing(who.tenant) as context, pytest.raises(Exception) as raised:  # noqa: PT011 - the error code is compared
            token_handoff.register_guid(context, text, links=False)
        assert getattr(raised.value, "code", 0) == refusal
    assert refused(other.send("GET", "/identity/v2/auth/account/ping", with_secret=False, clientguid=stored)) == (
        403,
        1140,
    )
    who.advance_clock(minutes=16)
    assert refused(who.call("U13", clientguid=stored)) == (403, 1140)


@ONE_STORE
def test_guid_for_linking_and_guid_for_sign_in_are_not_swapped(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    links, signs_in = social_accounts.began(who.tenant, links=True), social_accounts.began(who.tenant)
    with doing(who.tenant) as context:
        account = account_of(context, who.uid)
        assert not token_handoff.finish_sign_in(context, links, account, ("fed",), "google")
        assert not token_handoff.finish_link(context, signs_in, ADA)
        assert token_handoff.finish_link(context, links, ADA)
        assert not token_handoff.finish_link(context, links, social_accounts.new_identity()), "a second use"
    assert refused(who.call("U13", clientguid=links)) == (403, 1140)
    answered(who.own("U30", {"clientguid": links}))
    assert refused(who.own("U30", {"clientguid": links})) == (403, 1140)
    assert identities(who.tenant, who.uid) == ["google 108"]


@ONE_STORE
def test_candidate_token_is_bound_to_tenant_and_expires(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **SOCIAL), account_holder(new_tenant_server, **SOCIAL)
    shown = social_accounts.candidate(who.tenant, ADA)
    expired = social_accounts.candidate(who.tenant, social_accounts.new_identity())
    assert refused(other.own("U29", {"candidatetoken": shown})) == (403, 905)
    answered(who.own("U29", {"candidatetoken": shown}))
    assert refused(who.own("U29", {"candidatetoken": shown})) == (403, 905)
    who.advance_clock(minutes=16)
    who.stored_token = ""
    assert refused(who.own("U29", {"candidatetoken": expired})) == (403, 905)


@ONE_STORE
def test_access_token_is_no_candidate_token(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    other = social_accounts.without_password(who.tenant, ADA)
    access_token = answered(exchange(who.tenant, social_accounts.request_token(who.tenant, other)))["access_token"]
    assert refused(who.own("U29", {"candidatetoken": access_token})) == (403, 986)
    assert identities(who.tenant, who.uid) == []


@ONE_STORE
def test_password_reset_by_email_keeps_linked_identity(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(**SOCIAL)
    uid = social_accounts.without_password(tenant, ADA, email=VICTIM)
    bearer = str(tenant.tokens(uid)["access_token"])
    send = partial(tenant.send, with_secret=False)
    answered(send("POST", "/identity/v2/auth/password", {"email": VICTIM}))
    token = token_in(mails_to(tenant.services, tenant.tenant_id, VICTIM)[-1])
    answered(send("PUT", "/identity/v2/auth/password/reset", {"resettoken": token, "password": "Quartz-lantern-58"}))
    assert identities(tenant, uid) == ["google 108"], "the address was verified before, so the reset keeps the link"
    assert tenant.send("GET", "/identity/v2/auth/account", bearer=bearer).status_code == 401
