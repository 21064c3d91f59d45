"""Actions that make the operations of passkeys refuse."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.mailbox import token_in
from tests.support.credentials.factors import LOGIN_2FA
from tests.support.credentials.passkeys import LOGIN, OWN, A, PasskeyHolder, passkey_holder_of
from tests.support.operation_cases.cases import AccountHolder, Act

ON: dict[str, Any] = {"passkeys": True}
OFF = {"passkeys": False}
BUTTON = {**ON, "passkey_settings": {"selection": "button"}}
TWO: dict[str, Any] = {**ON, "two_factor": "optional"}
DEMANDED = {**ON, "two_factor": "required"}
NO_FACTOR = {**TWO, "second_factors": {"passkey": False, "totp": True}}
CONSENT = {"event": "FirstLogin", "options": [{"id": "terms", "title": {"en": "Terms"}, "mandatory": True}]}
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
EMPTY = {"id": "AA", "rawId": "AA", "type": "public-key", "response": {"clientDataJSON": "AA"}}
MISSING = "0" * 32


@contextmanager
def over_plain_http(who: AccountHolder) -> Iterator[None]:
    """The tenant's host is one for which no browser makes passkeys."""
    services = who.tenant.services
    former = services.settings
    services.settings = replace(former, hub_domain="hub.example", scheme="http", api_host=former.api_hostname)
    try:
        yield
    finally:
        services.settings = former


def misconfigured(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        _ = who.bearer
        with over_plain_http(who):
            return act(who)

    return done


def keyed_first(who: AccountHolder) -> PasskeyHolder:
    return passkey_holder_of(who).add_passkey()


def begin(row: str, **query: Any) -> Act:
    return lambda who: who.call(row, **{"identifier": who.email, **query})


def finish(row: str) -> Act:
    """Send a credential of no account."""
    return lambda who: who.call(row, {"PasskeyCredential": EMPTY})


def sign_in_after(change: dict[str, Any] | None = None, **settings: Any) -> Act:
    """Sign in with a passkey after the account was changed, or its tenant."""

    def act(who: AccountHolder) -> TestResponse:
        ada = keyed_first(who)
        shown = ada.device.shows(ada.asks_sign_in())
        if change:
            ada.update_account(**change)
        if settings:
            ada.tenant.change_settings(**settings)
        return ada.gives(f"{LOGIN}/finish", shown)

    return act


def without_any(path: str) -> Act:
    """Sign in with a passkey that was removed meanwhile, the only one."""

    def act(who: AccountHolder) -> TestResponse:
        ada = keyed_first(who)
        query: dict[str, Any] = {"identifier": ada.email} if path == f"{LOGIN}/begin" else {}
        shown = ada.device.shows(ada.begins(path, **query))
        ada.tenant.send("DELETE", f"{OWN}/passkey/{ada.listed()[0]['Id']}", bearer=ada.bearer)
        return ada.gives(path.replace("begin", "finish"), shown)

    return act


def nameless(who: AccountHolder) -> TestResponse:
    """Sign in with the passkey of an account that has no address any more."""
    ada = keyed_first(who)
    shown = ada.device.shows(ada.asks_sign_in())
    ada.set_columns(email=None, emails=[])
    return ada.gives(f"{LOGIN}/finish", shown)


def challenged(row: str, body: Any = None, *, enrolled: bool = False, late: bool = False, locked: bool = False) -> Act:
    """Answer a challenge, of an account with or without an enrolled passkey."""

    def act(who: AccountHolder) -> TestResponse:
        ada = passkey_holder_of(who)
        token = (ada.enrols_passkey() if enrolled else ada).token()
        if late:
            ada.advance_clock(minutes=10)
        if locked:
            for _ in range(2):
                ada.ask("POST", {"email": ada.email, "password": "wrong"}, path=LOGIN_2FA)
        return ada.call(row, body, secondfactorauthenticationtoken=token)

    return act


def strange(row: str, body: Any = None) -> Act:
    return lambda who: who.call(row, body, secondfactorauthenticationtoken=MISSING)


def of_challenge(row: str, body: Any = None, *, enrolled: bool = False) -> list[tuple[Any, ...]]:
    """The refusals of the token, the same at every row that takes one."""
    lockout = {"lockout": {"type": "suspend", "maximum_failed_attempts": 2}}
    return [
        (1103, strange(row, body), DEMANDED),
        (1104, challenged(row, body, enrolled=enrolled, late=True), DEMANDED),
        (1264, challenged(row, body, enrolled=enrolled, locked=True), {**DEMANDED, **lockout}),
    ]


def plain_challenge(row: str, body: Any = None) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        ada = passkey_holder_of(who)
        token = ada.token()
        with over_plain_http(ada):
            return ada.call(row, body, secondfactorauthenticationtoken=token)

    return act


def forgets(**overrides: Any) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        ada = keyed_first(who)
        body, query = {"email": overrides.get("email", ada.email)}, {k: v for k, v in overrides.items() if k != "email"}
        return ada.call("M54", body, **query)

    return act


def link(who: AccountHolder) -> str:
    """Return a mailed link of an account with a passkey."""
    ada = keyed_first(who)
    assert forgets()(ada).status_code == 200
    return token_in(ada.mailed())


def by_link(row: str, *, used: bool = False, late: bool = False, plain: bool = False) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        ada, token = passkey_holder_of(who), link(who)
        if used:
            made = ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token))
            assert ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token).status_code == 200
        if late:
            ada.advance_clock(days=2)
        body = {"PasskeyCredential": EMPTY} if row == "M56" else None
        if not plain:
            return ada.call(row, body, vtoken=token)
        with over_plain_http(ada):
            return ada.call(row, body, vtoken=token)

    return act


def without_email(who: AccountHolder) -> AccountHolder:
    who.set_columns(email=None, emails=[])
    return who


def nameless_begin(who: AccountHolder) -> TestResponse:
    """Begin by the username of an account that has no address."""
    return begin("M50", identifier=without_email(who).username)(who)
