"""Links, codes, sessions and their limits as the interface states them: one test a difference, with request and answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.support import identities as by
from tests.support.customers import NEW
from tests.support.identities import NO_CALLBACK
from tests.support.mailbox import code_in
from tests.support.rows import AccountHolder, account_holder
from tests.support.tenant_server import MANAGE, NewTenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
_AUTH = "/identity/v2/auth"
LINKS: dict[str, Any] = {"smart_login": True, "one_touch": True, "phone_login": True, "email_login": True}

MALFORMED = [
    (f"{_AUTH}/email/smartlogin", {"verificationtoken": "no token"}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "A" * 42}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "A" * 43}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "123456"}, (400, 1032)),  # a code, and whose?
    (f"{_AUTH}/email/onetouchlogin", {"verificationtoken": "no token"}, (403, 1063)),
    (f"{_AUTH}/email/onetouchlogin", {"verificationtoken": "1234567"}, (403, 1063)),
]
"""Address, query, and the status and code that are due (user.md rows U57 and U61)."""


@pytest.mark.parametrize(("path", "query", "due"), MALFORMED)
def test_a_malformed_token_of_a_link_is_refused_as_unknown(
    new_tenant_server: NewTenantServer, path: str, query: dict[str, str], due: tuple[int, int]
) -> None:
    tenant = new_tenant_server(**LINKS)
    assert refused(tenant.send("GET", path, with_secret=False, **query)) == due


def test_second_poll_after_social_login_answers_1140(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    guid = by.signed_in_with(who.tenant, who.uid)
    answered(who.call("U13", clientguid=guid))
    assert refused(who.call("U13", clientguid=guid)) == (403, 1140)


# Codes that reset (limits.md section 2: 300 seconds).


def mailed(who: AccountHolder) -> str:
    answered(who.call("U33", {"email": who.email}))
    return code_in(who.mailed())


def by_mail(who: AccountHolder, code: str) -> Any:
    return refused(who.call("U34", {"email": who.email, "otp": code, "password": NEW}))


@pytest.mark.parametrize(("settings", "seconds"), [({}, 300), ({"reset_code_minutes": 20}, 1_200)])
def test_a_mailed_reset_code_lives_as_long_as_stated(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], seconds: int
) -> None:
    who = account_holder(new_tenant_server, reset_password_codes=True, **settings)
    code = mailed(who)
    who.waits(seconds=seconds + 1)
    assert by_mail(who, code) == (403, 1187)
    code = mailed(who)
    who.waits(seconds=seconds - 20)
    assert who.call("U34", {"email": who.email, "otp": code, "password": NEW}).status_code == 200


def test_a_code_that_a_server_brings_says_when_it_ends(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, phone_login=True, email_login=True, reset_password_codes=True)
    ends = who.tenant.services.clock.now().timestamp()
    for path, body in (("emailtoken", {"email": who.email}), ("smsotp", {"phone": who.phone})):
        made = answered(who.tenant.send("POST", f"{MANAGE}/{path}/forgotpassword", body))
        assert 290 < datetime.fromisoformat(made["ExpiresIn"]).timestamp() - ends <= 305, path


# Limits of sessions (limits.md section 6: the account's wins).


def limit(who: AccountHolder) -> int:
    return int(who.tenant.read(who.uid)["SessionLimit"])


def test_the_profile_shows_the_limit_of_sessions_that_holds(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, session_limit=1)
    assert limit(who) == 1
    assert answered(who.logs_in())["Profile"]["SessionLimit"] == 1
    assert refused(who.logs_in()) == (403, 1338)


def test_an_account_s_own_limit_of_sessions_wins(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, session_limit=1)
    assert who.tenant.update(who.uid, {"SessionLimit": 2})["SessionLimit"] == 2
    for _ in range(2):
        answered(who.logs_in())
    assert refused(who.logs_in()) == (403, 1338)
    assert who.tenant.update(who.uid, {"SessionLimit": 0})["SessionLimit"] == 0
    answered(who.logs_in())
    assert who.tenant.update(who.uid, {"SessionLimit": None})["SessionLimit"] == 0, "null alone changes nothing"
    assert who.tenant.update(who.uid, {"SessionLimit": None}, nullsupport="true")["SessionLimit"] == 1
    assert refused(who.logs_in()) == (403, 1338)


def test_an_account_is_limited_where_its_tenant_is_not(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    email = "ada@example.test"
    made = tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=True, SessionLimit=1)
    assert made["SessionLimit"] == 1
    body = {"email": email, "password": "Zebra-kettle-91"}
    session = answered(tenant.send("POST", f"{_AUTH}/login", body, with_secret=False))
    assert refused(tenant.send("POST", f"{_AUTH}/login", body, with_secret=False)) == (403, 1338)
    changed = answered(tenant.send("PUT", f"{_AUTH}/account", {"SessionLimit": 9}, bearer=session["access_token"]))
    assert changed["Data"]["SessionLimit"] == 1, "its owner does not change it"
    for wrong in (-1, 101, "x"):
        assert refused(tenant.send("PUT", f"{MANAGE}/{made['Uid']}", {"SessionLimit": wrong})) == (400, 908)


# Spellings that clients read.


def test_both_spellings_that_clients_read_are_answered(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    answered(who.logs_in())
    listed = answered(who.tenant.send("GET", "/api/v2/access_token/activesession", accountid=who.uid))
    assert (listed["nextcursor"], listed["nextCursor"]) == (0, 0)
    shown = listed["data"][0]["AccessToken"]
    ended = answered(who.tenant.send("GET", "/api/v2/access_token/invalidate", access_token=shown))
    assert ended == {"IsPosted": True, "isPosted": True}
