"""An account without credentials and fallback kinds has no second factor, whatever the account itself has."""

from dataclasses import replace

from app.contract.tenants.settings import TenantSettings
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from tests.support.accounts.profiles import ADA


def test_no_authenticator_is_enrolled_without_credentials() -> None:
    account = replace(ADA, phone="+14155550100", phone_verified=True, username="ada")
    factors = AccountFactors(account, is_factor_required=True)
    assert [kind for kind, authenticator in AUTHENTICATORS.items() if authenticator.is_enrolled(factors)] == []
    assert second_factors.enrolled_kinds(TenantSettings(), factors) == ()
