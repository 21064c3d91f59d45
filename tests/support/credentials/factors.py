"""An account with second factors: the codes of its app, and responses to a challenge."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pyotp
from werkzeug.test import TestResponse

from tests.support.accounts.customers import OLD
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import NewTenantServer, answered

LOGIN_2FA = "/identity/v2/auth/login/2fa"
OWN_2FA = "/identity/v2/auth/account/2fa"


@dataclass
class SecondFactorHolder(AccountHolder):
    """An account at a tenant with second factors."""

    app: pyotp.TOTP | None = field(default=None, repr=False)
    codes: list[str] = field(default_factory=list, repr=False)  # on paper

    def signs_in(self, **query: Any) -> TestResponse:
        """Show the password at the login that knows of second factors."""
        return self.ask("POST", {"email": self.email, "password": OLD}, path=LOGIN_2FA, **query)

    def challenged(self, **query: Any) -> dict[str, Any]:
        """Show the password, and return the challenge."""
        challenge = answered(self.signs_in(**query))["SecondFactorAuthentication"]
        assert challenge is not None
        return dict(challenge)

    def token(self) -> str:  # here it is that of a challenge
        return str(self.challenged()["SecondFactorAuthenticationToken"])

    def shows(self, seconds: int = 0) -> str:
        """What the app shows, so many seconds from now."""
        assert self.app is not None
        return self.app.at(self.tenant.services.clock.now() + timedelta(seconds=seconds))

    def next_code(self) -> str:
        """A code that the app did not show before."""
        self.advance_clock(seconds=30)
        return self.shows()

    def own_factors(self) -> dict[str, Any]:
        return answered(self.tenant.send("GET", OWN_2FA, bearer=self.bearer))

    def scans(self) -> SecondFactorHolder:
        """Put the account into the app, without a first code."""
        self.app = pyotp.TOTP(self.own_factors()["ManualEntryCode"])
        return self

    def enrols(self) -> SecondFactorHolder:
        """Put the account into the app, and prove it."""
        self.scans()
        answered(self.own("PUT", "totp", {"authenticatorcode": self.shows()}))
        return self

    def own(self, method: str, at: str, body: Any = None, **query: Any) -> TestResponse:  # type: ignore[override]  # by path
        """Ask an operation of one's own factors."""
        return self.tenant.send(method, f"{OWN_2FA}/{at}", body, bearer=self.bearer, **query)

    def answer_challenge(self, at: str, body: Any, token: str, method: str = "PUT") -> TestResponse:
        """Answer a challenge."""
        path = f"{LOGIN_2FA}/{at}"
        return self.tenant.send(method, path, body, with_secret=False, secondfactorauthenticationtoken=token)

    def shows_code(self, code: str, token: str | None = None) -> TestResponse:
        """Answer a challenge with a code of the app."""
        return self.answer_challenge("totp", {"authenticatorcode": code}, token or self.token())

    def backup_codes(self) -> list[str]:
        return list(answered(self.own("GET", "backupcode"))["BackUpCodes"])


def second_factor_holder(make: NewTenantServer, **settings: Any) -> SecondFactorHolder:
    """Return an account at a new tenant; second factors are optional unless the settings change that."""
    return SecondFactorHolder(**vars(account_holder(make, **{"two_factor": "optional", **settings})))
