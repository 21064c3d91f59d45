"""Pages that take an identifier answer known and unknown ones alike, down to HTML, headers and cookies.

Pages hide accounts whatever the tenant configures. The operations behind the pages are covered by
tests/api/account_enumeration/test_operations.py, which fails if one is missing here.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask

from app.identity.credentials.one_time_tokens.one_time_tokens import MAX_ATTEMPTS
from tests.support.accounts.account_states import (
    PASSWORD,
    UNKNOWN,
    WRONG,
    Subject,
    Summary,
    browser_of,
    page_summary,
    unknown_and_known,
)
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.tenants.tenant_server import NewTenantServer
from tests.support.visitors.visitor import VisitedPage

FORM = ({"name": "email", "required": True}, {"name": "password", "type": "password", "required": True})
LOCKS_AFTER = 3
"""Failed attempts that lock a sign-in: a fourth and a fifth would only repeat the pages before the lock."""
Walk = Callable[[Subject, Flask], Iterator[VisitedPage]]


def signs_in(name: str) -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
        page = browser_of(who, hub).open("/login")
        for _ in range(LOCKS_AFTER + 2):
            page = page.sign_in(who.names[name], WRONG)
            yield page
            if page.heading == "Sign-in is locked":
                page = page.follow("Use another account")

    return walk


def signs_in_by_steps(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
    who.tenant.change_settings(identifier_first=True)
    yield browser_of(who, hub).open("/login").press("Continue", identifier=who.email)
    yield from signs_in("email")(who, hub)


def forgets(name: str, what: str = "password") -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
        visitor = browser_of(who, hub)
        page = visitor.open(f"/forgot-{what}").press("Continue", identifier=who.names[name])
        yield page
        for _ in range(MAX_ATTEMPTS + 1):
            page = page.press("Verify", code="000000")
            yield page
        yield page.press("Resend code" if name == "phone" else "Resend email")
        yield from then_signs_in(who, hub, WRONG, name)

    return walk


def answers_for_a_pin(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
    page = browser_of(who, hub).open("/forgot-pin/questions")
    for pin in ("1", *["270486"] * (LOCKS_AFTER + 2)):
        page = page.press("Save PIN", identifier=who.email, answer_0="wrong", pin=pin)
        yield page


def registers(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
    """Register, then sign in with the new password in this browser and in another one."""
    visitor = browser_of(who, hub)
    page = visitor.open("/register").press("Create account", email=who.email, password=WRONG)
    yield page
    yield page.press("Resend email")
    yield page.press("Continue")
    attempt = page.query["attempt"]
    yield visitor.open(f"/login?attempt={attempt}").press("Sign in", identifier=who.email, password=WRONG)
    yield visitor.open(f"/login?attempt={attempt}").press("Sign in", identifier=who.email, password=PASSWORD + "x")
    yield from then_signs_in(who, hub, WRONG, "email")
    for _ in range(5):
        yield page.press("Verify", code="000000")
    yield from then_signs_in(who, hub, WRONG, "email")


def registers_by_passkey(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
    """Register by passkey, then sign in with it in this browser and in another one."""
    visitor = browser_of(who, hub)
    device, page = Authenticator(visitor.home), visitor.open("/register")
    typed = {**page.form("Continue with a passkey").fields, "email": who.email}
    options = visitor.send("POST", f"{visitor.home}/register/passkey/options", typed)
    yield options
    credential = json.dumps(device.makes(json.loads(options.html)))
    page = page.press("Continue with a passkey", email=who.email, credential=credential)
    yield page
    yield page.press("Resend email")
    yield page.press("Continue")
    for other, address in ((visitor, f"/login?attempt={page.query['attempt']}"), (browser_of(who, hub), "/login")):
        login = other.open(address)
        button = other.send("POST", f"{other.home}/login/passkey/options", login.form("Sign in with a passkey").fields)
        assertion = device.shows(json.loads(button.html), device.passkeys[0])
        yield login.press("Sign in with a passkey", credential=json.dumps(assertion))
    yield from then_signs_in(who, hub, WRONG, "email")


def passwordless(method: str, name: str) -> Walk:
    """Ask for a code or link, guess it, and have it sent again."""

    def walk(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
        button = {"mail": "Email me a link", "sms": "Text me a code", "device": "Email me a sign-in request"}[method]
        page = browser_of(who, hub).open(f"/sign-in/{method}").press(button, identifier=who.names[name])
        yield page
        for _ in range(LOCKS_AFTER if method == "device" else MAX_ATTEMPTS + 1):
            page = page.press("Continue") if method == "device" else page.press("Sign in", code="000000")
            yield page
        yield page.press("Resend code" if method == "sms" else "Resend email")
        yield from then_signs_in(who, hub, WRONG, name)

    return walk


def loses_passkey(name: str) -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[VisitedPage]:
        for _ in range(4):
            yield browser_of(who, hub).open("/passkeys/lost").press("Email me a link", identifier=who.names[name])

    return walk


def then_signs_in(who: Subject, hub: Flask, password: str, name: str) -> Iterator[VisitedPage]:
    yield browser_of(who, hub).open("/login").press("Sign in", identifier=who.names[name], password=password)


WALKS: dict[str, Walk] = {
    **{f"sign in by {name}": signs_in(name) for name in ("email", "username", "phone")},
    "sign in by steps": signs_in_by_steps,
    **{f"forgotten password by {name}": forgets(name) for name in ("email", "username", "phone")},
    **{f"forgotten PIN by {name}": forgets(name, "pin") for name in ("email", "phone")},
    "a PIN by answers": answers_for_a_pin,
    "sign up": registers,
    "sign up by passkey": registers_by_passkey,
    **{f"a mailed link by {name}": passwordless("mail", name) for name in ("email", "username")},
    **{f"another device by {name}": passwordless("device", name) for name in ("email", "username")},
    **{f"a lost passkey by {name}": loses_passkey(name) for name in ("email", "username")},
    "a texted code": passwordless("sms", "phone"),
}


def summaries(who: Subject, hub: Flask, walk: Walk) -> list[Summary]:
    return [page_summary(who, page) for page in walk(who, hub)]


@pytest.mark.both_databases(name={"sign in by email"})
@pytest.mark.parametrize("name", WALKS)
def test_known_and_unknown_identifiers_see_the_same_pages(
    new_tenant_server: NewTenantServer, hub_app: Flask, name: str
) -> None:
    walk = WALKS[name]
    settings: dict[str, Any] = {"pin": {"is_on": True}} if "PIN" in name else {}
    if walk is not registers:  # its sign-ins are wrong three times before its codes, which lock
        settings["lockout"] = {"maximum_failed_attempts": LOCKS_AFTER}
    unknown, known = unknown_and_known(
        new_tenant_server, hide_unknown_accounts=False, registration_form=FORM, passkeys=True, **settings
    )
    seen = summaries(unknown, hub_app, walk)
    others = {who.state: summaries(who, hub_app, walk) for who in known}
    assert not {state for state, other in others.items() if other != seen}, difference(seen, others)


def difference(seen: list[Summary], others: dict[str, list[Summary]]) -> str:
    """Return the first difference of each account state from the unknown subject."""
    lines = []
    for state, other in others.items():
        for at, (unknown_summary, known_summary) in enumerate(zip(seen, other, strict=True)):
            if unknown_summary != known_summary:
                lines += [f"{at}: {UNKNOWN} {unknown_summary[:-1]}", f"{at}: {state} {known_summary[:-1]}"]
                lines += list(
                    difflib.unified_diff(
                        unknown_summary[-1].splitlines(), known_summary[-1].splitlines(), lineterm="", n=0
                    )
                )[:12]
                break
    return "\n".join(lines)
