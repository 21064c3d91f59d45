"""Somebody with passkeys, and what their authenticator is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from werkzeug.test import TestResponse

from app.settings import Settings
from tests.support.authenticator import Authenticator
from tests.support.factors import LOGIN_2FA, OWN_2FA, Factored
from tests.support.rows import somebody
from tests.support.tenant_server import NewTenantServer, TenantServer, answered

A = "/identity/v2/auth"
LOGIN, OWN = f"{A}/login/passkey", f"{A}/account"
Options = dict[str, Any]


def origin_of(tenant: TenantServer) -> str:
    """Return the address of a tenant's pages."""
    settings: Settings = tenant.services.settings
    return settings.hub_url(tenant.name)


@dataclass
class Keyed(Factored):
    """Somebody whose device makes passkeys."""

    device: Authenticator = field(default_factory=lambda: Authenticator(""), repr=False)

    def begins(self, path: str, *, own: bool = False, **query: Any) -> Options:
        """Begin a ceremony, and return its options."""
        said = answered(self.tenant.send("GET", path, bearer=self.bearer if own else None, with_secret=False, **query))
        begun = said.get("RegisterBeginCredential") or said["LoginBeginCredential"]
        return dict(begun["publicKey"])

    def adds(self, **said: Any) -> TestResponse:
        """Add a passkey to the account."""
        options = self.begins(f"{OWN}/register/passkey/begin", own=True)
        return self.gives(f"{OWN}/register/passkey/finish", self.device.makes(options, **said), own=True)

    def has_passkey(self, **said: Any) -> Keyed:
        answered(self.adds(**said))
        return self

    def enrols_passkey(self) -> Keyed:
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

    def comes(self, **said: Any) -> TestResponse:
        """Sign in with the passkey of the account that is named."""
        return self.gives(f"{LOGIN}/finish", self.device.shows(self.asks_sign_in(), **said))

    def is_offered(self, **said: Any) -> TestResponse:
        """Sign in with the passkey that the browser offers."""
        return self.gives(f"{LOGIN}/autofill/finish", self.device.shows(self.begins(f"{LOGIN}/autofill/begin"), **said))

    def answers(self, token: str, **said: Any) -> TestResponse:
        """Answer a challenge with a passkey."""
        options = self.begins(f"{LOGIN_2FA}/passkey/begin", secondfactorauthenticationtoken=token)
        shown = self.device.shows(options, **said)
        return self.gives(f"{LOGIN_2FA}/passkey/finish", shown, secondfactorauthenticationtoken=token)

    def enrols_with(self, token: str, **said: Any) -> TestResponse:
        """Enrol a passkey with a challenge's token."""
        options = self.begins(f"{LOGIN_2FA}/register/passkey/begin", secondfactorauthenticationtoken=token)
        made = self.device.makes(options, **said)
        return self.gives(f"{LOGIN_2FA}/register/passkey/finish", made, secondfactorauthenticationtoken=token)

    def listed(self) -> list[dict[str, Any]]:
        return list(answered(self.tenant.send("GET", f"{OWN}/passkey", bearer=self.bearer))["Credentials"])


def keyed(make: NewTenantServer, **settings: Any) -> Keyed:
    """Return somebody at a new tenant that has passkeys."""
    who = Keyed(**vars(somebody(make, **{"passkeys": True, **settings})))
    who.device = Authenticator(origin_of(who.tenant))
    return who


def keyed_of(who: Any) -> Keyed:
    """Return somebody of a row table, with a device."""
    known = who if isinstance(who, Keyed) else Keyed(**vars(who))
    known.device = Authenticator(origin_of(who.tenant))
    return known
