"""What the audit entry of a sign-in keeps, so that a workflow can be tried on past sign-ins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.identity.authentication.sign_in.locations.text_file import ListedLocations
from tests.support.accounts.risky_sign_ins import CHROME, PLACES, VIENNA, sign_in
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import NewTenantServer

PERSONAL = {"email", "username", "phone", "name", "agent", "address", "city", "country"}


@pytest.fixture
def ada(new_tenant_server: NewTenantServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AccountHolder:
    file = tmp_path / "places.csv"
    file.write_text(PLACES)
    who = account_holder(new_tenant_server, risk={"browser": "notify", "city": "notify"})
    monkeypatch.setattr(who.tenant.services, "locations", ListedLocations(file))
    return who


def logged(ada: AccountHolder) -> dict[str, Any]:
    uid, facts = entries_of(ada.tenant, "event.Login")[-1]
    assert uid == ada.uid
    return facts


@pytest.mark.both_databases
def test_entry_has_methods_and_state_of_the_account(ada: AccountHolder) -> None:
    sign_in(ada)
    facts = logged(ada)

    assert facts["methods"] == ["pwd"]
    assert facts["has_password"] is True
    assert facts["logins"] == 0
    sign_in(ada)
    assert logged(ada)["logins"] == 1


def test_entry_names_new_signals_of_the_origin(ada: AccountHolder) -> None:
    sign_in(ada)
    assert "new" not in logged(ada)
    sign_in(ada, CHROME, VIENNA)

    assert logged(ada)["new"] == ["browser", "city"]


def test_entry_has_nothing_personal(ada: AccountHolder) -> None:
    sign_in(ada)
    facts = logged(ada)

    assert not PERSONAL & {name.lower() for name in facts}
    assert "@" not in str(facts)
