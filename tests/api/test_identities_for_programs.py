"""Identities of other providers as what programs get of a sign-in in a browser (decisions/0131)."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest
from werkzeug.test import TestResponse

from app.identity.authentication.federation import token_handoff
from tests.api.test_linked_identities import ONE_STORE, VICTIM, identities
from tests.support import identities as by
from tests.support.identities import ADA, NO_CALLBACK, SOCIAL, account_of, doing
from tests.support.mailbox import mails_to, token_in
from tests.support.races import RACERS, at_once
from tests.support.rows import AccountHolder, account_holder
from tests.support.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

A26 = "/api/v2/access_token"


def exchange(tenant: TenantServer, token: str) -> TestResponse:
    return tenant.send("GET", A26, token=token)


def test_a_request_token_is_exchanged_once(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    token = by.request_token(who.tenant, who.uid)
    answers = at_once([lambda: exchange(who.tenant, token)] * RACERS)
    assert Counter(refused(answer) for answer in answers if answer.status_code != 200) == {(403, 903): RACERS - 1}
    session = next(answered(answer) for answer in answers if answer.status_code == 200)
    who.held = str(session["access_token"])
    assert answered(who.own("U15"))["Uid"] == who.uid
    assert answered(who.tenant.send("GET", "/identity/v2/auth/access_token", bearer=who.held))["provider"] == "google"
    assert session["expires_in"].endswith("Z")
    assert refused(exchange(who.tenant, token)) == (403, 903)


def late(who: AccountHolder) -> None:
    who.waits(minutes=16)


def new_password(who: AccountHolder) -> None:
    answered(who.tenant.send("PUT", f"{MANAGE}/{who.uid}/password", {"password": "Quartz-lantern-58"}))


@ONE_STORE
@pytest.mark.parametrize(
    ("meanwhile", "code"),
    [
        (late, 904),
        (new_password, 903),
        (lambda who: who.becomes(IsActive=False), 903),
        (lambda who: answered(who.tenant.send("DELETE", f"{MANAGE}/{who.uid}")), 903),
    ],
    ids=["late", "new password", "blocked", "removed"],
)
def test_a_request_token_ends_with_what_it_stands_for(
    new_tenant_server: NewTenantServer, meanwhile: object, code: int
) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    token, held = by.request_token(who.tenant, who.uid), by.signed_in_with(who.tenant, who.uid)
    assert callable(meanwhile)
    meanwhile(who)
    assert refused(exchange(who.tenant, token)) == (403, code)
    assert refused(who.call("U13", clientguid=held)) == (403, 1140)


@ONE_STORE
def test_a_request_token_is_of_a_server_that_knows_the_secret(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **SOCIAL), new_tenant_server(**SOCIAL)
    token = by.request_token(who.tenant, who.uid)
    by_query = partial(who.tenant.send, "GET", A26, with_secret=False, token=token)
    assert refused(by_query()) == (400, 923)
    assert refused(by_query(secret="x" * 36))[1] == 902
    assert refused(exchange(other, token)) == (403, 903)
    assert refused(who.tenant.send("GET", A26)) == (400, 908)
    assert answered(by_query(apikey=None, secret=who.tenant.api_secret))["refresh_token"]


def test_a_client_guid_gives_one_session_of_what_the_browser_finished(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    answered(who.logs_in())
    held = by.began(who.tenant)
    assert refused(who.call("U13", clientguid=held)) == (403, 1140), "the browser is not back yet"
    by.signed_in_with(who.tenant, who.uid, held)
    answers = at_once([lambda: who.call("U13", clientguid=held, fields="Uid,NoOfLogins")] * RACERS)
    assert Counter(refused(answer) for answer in answers if answer.status_code != 200) == {(403, 1140): RACERS - 1}
    session = next(answered(answer) for answer in answers if answer.status_code == 200)
    assert session["Profile"] == {"Uid": who.uid, "NoOfLogins": 1}, "it is the browser's sign-in, and counted there"
    who.held = str(session["access_token"])
    assert answered(who.own("U15"))["Uid"] == who.uid


@ONE_STORE
def test_a_client_guid_is_unguessable_and_new(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **NO_CALLBACK), new_tenant_server(**NO_CALLBACK)
    held = by.signed_in_with(who.tenant, who.uid)
    for refusal, text in ((1140, "12345"), (1140, f"{by.guid()}\n"), (1140, "x" * 101), (1136, held)):
        with doing(who.tenant) as call, pytest.raises(Exception) as raised:  # noqa: PT011 - the code says which
            token_handoff.register_guid(call, text, links=False)
        assert getattr(raised.value, "code", 0) == refusal
    assert refused(other.send("GET", "/identity/v2/auth/account/ping", with_secret=False, clientguid=held)) == (
        403,
        1140,
    )
    who.waits(minutes=16)
    assert refused(who.call("U13", clientguid=held)) == (403, 1140)


@ONE_STORE
def test_a_guid_that_was_to_link_signs_nobody_in_and_the_other_way_round(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    links, signs_in = by.began(who.tenant, links=True), by.began(who.tenant)
    with doing(who.tenant) as call:
        account = account_of(call, who.uid)
        assert not token_handoff.finish_sign_in(call, links, account, ("fed",), "google")
        assert not token_handoff.finish_link(call, signs_in, ADA)
        assert token_handoff.finish_link(call, links, ADA)
        assert not token_handoff.finish_link(call, links, by.new_identity()), "once"
    assert refused(who.call("U13", clientguid=links)) == (403, 1140)
    answered(who.own("U30", {"clientguid": links}))
    assert refused(who.own("U30", {"clientguid": links})) == (403, 1140)
    assert identities(who.tenant, who.uid) == ["google 108"]


@ONE_STORE
def test_a_candidate_is_of_one_tenant_for_a_quarter_of_an_hour(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **SOCIAL), account_holder(new_tenant_server, **SOCIAL)
    shown, late_one = by.candidate(who.tenant, ADA), by.candidate(who.tenant, by.new_identity())
    assert refused(other.own("U29", {"candidatetoken": shown})) == (403, 905)
    answered(who.own("U29", {"candidatetoken": shown}))
    assert refused(who.own("U29", {"candidatetoken": shown})) == (403, 905)
    who.waits(minutes=16)
    who.held = ""
    assert refused(who.own("U29", {"candidatetoken": late_one})) == (403, 905)


@ONE_STORE
def test_the_sign_in_of_somebody_who_has_a_linked_account_links_nothing(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SOCIAL)
    other = by.without_password(who.tenant, ADA)
    theirs = answered(exchange(who.tenant, by.request_token(who.tenant, other)))["access_token"]
    assert refused(who.own("U29", {"candidatetoken": theirs})) == (403, 986)
    assert identities(who.tenant, who.uid) == []


@ONE_STORE
def test_whoever_has_no_password_proves_themselves_by_mail_and_sets_one(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(**SOCIAL)
    uid = by.without_password(tenant, ADA, email=VICTIM)
    bearer = str(tenant.tokens(uid)["access_token"])
    anybody = partial(tenant.send, with_secret=False)
    answered(anybody("POST", "/identity/v2/auth/password", {"email": VICTIM}))
    token = token_in(mails_to(tenant.services, tenant.tenant_id, VICTIM)[-1])
    answered(anybody("PUT", "/identity/v2/auth/password/reset", {"resettoken": token, "password": "Quartz-lantern-58"}))
    assert identities(tenant, uid) == ["google 108"], "the address was proved before: what is linked is the owner's own"
    assert tenant.send("GET", "/identity/v2/auth/account", bearer=bearer).status_code == 401
