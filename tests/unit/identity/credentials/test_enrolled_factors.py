"""Which second factors an account has, whatever the account itself has, and which one it used last."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.contract.second_factors.challenge import FactorKind
from app.contract.tenants.settings import TenantSettings
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from tests.support.accounts.profiles import ADA


def test_no_authenticator_is_enrolled_without_credentials() -> None:
    account = replace(ADA, phone="+14155550100", phone_verified=True, username="ada")
    factors = AccountFactors(account, is_factor_required=True)
    assert [kind for kind, authenticator in AUTHENTICATORS.items() if authenticator.is_enrolled(factors)] == []
    assert second_factors.enrolled_kinds(TenantSettings(), factors) == ()


@pytest.mark.parametrize(
    ("app_day", "mail_day", "last"),
    [(3, 2, FactorKind.TOTP), (2, 3, FactorKind.EMAIL), (None, 2, FactorKind.EMAIL), (None, None, None)],
)
def test_last_used_kind_is_that_of_the_latest_use(
    app_day: int | None, mail_day: int | None, last: FactorKind | None
) -> None:
    used = {FactorKind.TOTP: app_day, FactorKind.EMAIL: mail_day}
    made = datetime(2026, 1, 1, tzinfo=UTC)
    credentials = tuple(
        Credential(kind, ADA.uid, kind, None, None, {}, True, 0, made, made.replace(day=day) if day else None)
        for kind, day in used.items()
    )
    assert second_factors.last_used_kind(AccountFactors(ADA, credentials), tuple(used)) is last
    assert second_factors.last_used_kind(AccountFactors(ADA, credentials), ()) is None
