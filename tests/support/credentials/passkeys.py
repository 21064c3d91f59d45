"""An account with passkeys, and the ceremonies of its authenticator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from app.settings import Settings
from tests.support.credentials.factors import LOGIN_2FA, OWN_2FA, SecondFactorHolder
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.operation_cases.cases import account_holder
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

A = "/identity/v2/auth"
LOGIN, OWN = f"{A}/login/passkey", f"{A}/account"
Options = dict[str, Any]


def origin_of(tenant: TenantServer) -> str:
    """Return the address of a tenant's pages."""
    settings: Settings = tenant.services.settings
    return settings.hub_url(tenant.name)


@dataclass
class PasskeyHolder(SecondFactorHolder):
    """An account whose device creates passkeys."""

    device: Authenticator = field(default_factory=lambda: Authenticator(""), repr=False)

    def begins(self, path: str, *, own: bool = False, **query: Any) -> Options:
        """Begin a ceremony, and return its options."""
        overrides = answered(
            self.tenant.send("GET", path, bearer=self.bearer if own else None, with_secret=False, **query)
        )
        begun = overrides.get("RegisterBeginCredential") or overrides["LoginBeginCredential"]
        return dict(begun["publicKey"])

    def adds(self, **overrides: Any) -> TestResponse:
        """Add a passkey to the account."""
        options = self.begins(f"{OWN}/register/passkey/begin", own=True)
        return self.gives(f"{OWN}/register/passkey/finish", self.device.makes(options, **overrides), own=True)

    def add_passkey(self, **overrides: Any) -> PasskeyHolder:
        answered(self.adds(**overrides))
        return self

    def enrols_passkey(self) -> PasskeyHolder:
        """Enrol a passkey as second factor."""
        options = self.begins(f"{OWN_2FA}/register/passkey/begin", own=True)
        answered(self.gives(f"{OWN_2FA}/register/passkey/finish", self.device.makes(options), own=True))
        return self

    def gives(self, path: str, credential: Any, *, own: bool = False, **query: Any) -> TestResponse:
        """Finish a ceremony."""
        body = {"PasskeyCredential": credential}
        return self.tenant.send("POST", path, body, bearer=self.bearer if own else None, with_secret=False, **query)

    def asks_sign_in(self, **query: Any) -> Options:
        return self.begins(f"{LOGIN}/begin", **{"identifier": self.email, **query})

    def sign_in(self, **overrides: Any) -> TestResponse:
        """Sign in with the passkey of the account that is named."""
        return self.gives(f"{LOGIN}/finish", self.device.shows(self.asks_sign_in(), **overrides))

    def sign_in_by_autofill(self, **overrides: Any) -> TestResponse:
        """Sign in with the passkey that the browser offers."""
        return self.gives(
            f"{LOGIN}/autofill/finish", self.device.shows(self.begins(f"{LOGIN}/autofill/begin"), **overrides)
        )

    def answers(self, token: str, **overrides: Any) -> TestResponse:
        """Answer a challenge with a passkey."""
        options = self.begins(f"{LOGIN_2FA}/passkey/begin", secondfactorauthenticationtoken=token)
        shown = self.device.shows(options, **overrides)
        return self.gives(f"{LOGIN_2FA}/passkey/finish", shown, secondfactorauthenticationtoken=token)

    def enrols_with(self, token: str, **overrides: Any) -> TestResponse:
        """Enrol a passkey with a challenge's token."""
        options = self.begins(f"{LOGIN_2FA}/register/passkey/begin", secondfactorauthenticationtoken=token)
        made = self.device.makes(options, **overrides)
        return self.gives(f"{LOGIN_2FA}/register/passkey/finish", made, secondfactorauthenticationtoken=token)

    def listed(self) -> list[dict[str, Any]]:
        return list(answered(self.tenant.send("GET", f"{OWN}/passkey", bearer=self.bearer))["Credentials"])


def passkey_holder(make: NewTenantServer, **settings: Any) -> PasskeyHolder:
    """Return an account at a new tenant with passkeys enabled."""
    who = PasskeyHolder(**vars(account_holder(make, **{"passkeys": True, **settings})))
    who.device = Authenticator(origin_of(who.tenant))
    return who


def passkey_holder_of(who: Any) -> PasskeyHolder:
    """Return the account of a row table with a device."""
    known = who if isinstance(who, PasskeyHolder) else PasskeyHolder(**vars(who))
    known.device = Authenticator(origin_of(who.tenant))
    return known
