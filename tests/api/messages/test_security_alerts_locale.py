"""Security alerts use the account's previous locale, so an attacker who changes it cannot choose the language."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.services.identity_service import MovableClock, pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

ADA, OWN = "ada@example.test", "/identity/v2/auth/account"


def alert_language(tenant: TenantServer, uid: str, password: str) -> str:
    tenant.update(uid, {"Password": password})
    return str(mails_to(tenant.services, tenant.tenant_id, ADA)[-1]["language"])


@pytest.mark.parametrize(("locale", "expected"), [("de", "de"), (None, "en")])
def test_alert_uses_previous_locale_for_a_week(
    new_tenant_server: NewTenantServer, locale: str | None, expected: str
) -> None:
    tenant = new_tenant_server(email_login=True)
    more: dict[str, Any] = {"LocalLanguage": locale} if locale else {}
    uid = tenant.create(Email=[{"Type": "Primary", "Value": ADA}], EmailVerified=True, **more)["Uid"]
    for language in ("ar", "fr", "ar"):
        bearer = str(tenant.tokens(uid)["access_token"])
        answered(tenant.send("PUT", OWN, {"LocalLanguage": language}, bearer=bearer, with_secret=False))
    assert alert_language(tenant, uid, "Quartz-lantern-58") == expected
    assert isinstance(tenant.services.clock, MovableClock)
    pass_time(tenant.services, days=8)
    assert alert_language(tenant, uid, "Racing-tortoise-17") == "ar", "the change is older than a week"
