"""Emailed links and reset codes as the interface defines them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.support.accounts import social_accounts
from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import code_in
from tests.support.accounts.social_accounts import NO_CALLBACK
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
_AUTH = "/identity/v2/auth"
LINKS: dict[str, Any] = {"smart_login": True, "one_touch": True, "phone_login": True, "email_login": True}

MALFORMED = [
    (f"{_AUTH}/email/smartlogin", {"verificationtoken": "no token"}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "A" * 42}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "A" * 43}, (403, 1063)),
    (f"{_AUTH}/email/smartlogin", {"vtoken": "123456"}, (400, 1032)),  # a code without an identifier
    (f"{_AUTH}/email/onetouchlogin", {"verificationtoken": "no token"}, (403, 1063)),
    (f"{_AUTH}/email/onetouchlogin", {"verificationtoken": "1234567"}, (403, 1063)),
]
"""Path, query, and the expected status and code."""


@pytest.mark.parametrize(("path", "query", "expected"), MALFORMED)
def test_malformed_link_token_is_refused_as_unknown(
    new_tenant_server: NewTenantServer, path: str, query: dict[str, Any], expected: tuple[int, int]
) -> None:
    tenant = new_tenant_server(**LINKS)
    assert refused(tenant.send("GET", path, with_secret=False, **query)) == expected


def test_second_poll_after_social_login_returns_1140(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **NO_CALLBACK)
    guid = social_accounts.signed_in_with(who.tenant, who.uid)
    answered(who.call("U13", clientguid=guid))
    assert refused(who.call("U13", clientguid=guid)) == (403, 1140)


# Reset codes (300 seconds).


def request_reset_code(who: AccountHolder) -> str:
    answered(who.call("U33", {"email": who.email}))
    return code_in(who.mailed())


def reset_with_code(who: AccountHolder, code: str) -> Any:
    return refused(who.call("U34", {"email": who.email, "otp": code, "password": NEW}))


@pytest.mark.parametrize(("settings", "seconds"), [({}, 300), ({"reset_code_minutes": 20}, 1_200)])
def test_emailed_reset_code_lives_for_configured_time(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], seconds: int
) -> None:
    who = account_holder(new_tenant_server, reset_password_codes=True, **settings)
    code = request_reset_code(who)
    who.advance_clock(seconds=seconds + 1)
    assert reset_with_code(who, code) == (403, 1187)
    code = request_reset_code(who)
    who.advance_clock(seconds=seconds - 20)
    assert who.call("U34", {"email": who.email, "otp": code, "password": NEW}).status_code == 200


def test_code_returned_to_server_states_its_expiry(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, phone_login=True, email_login=True, reset_password_codes=True)
    now = who.tenant.services.clock.now().timestamp()
    for path, body in (("emailtoken", {"email": who.email}), ("smsotp", {"phone": who.phone})):
        created = answered(who.tenant.send("POST", f"{MANAGE}/{path}/forgotpassword", body))
        assert 290 < datetime.fromisoformat(created["ExpiresIn"]).timestamp() - now <= 305, path
