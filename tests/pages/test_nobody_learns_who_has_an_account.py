"""Every page on which a stranger types a name answers all names alike: the walk, every letter of the page, headers, cookies.

Pages hide who has an account whatever the tenant states. The operations behind them are found by
tests/api/test_nobody_learns_who_has_an_account.py, which fails where one is missing here.
"""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from app.contract.configuration import Lockout
from tests.support.account_states import (
    PASSWORD,
    UNKNOWN,
    WRONG,
    Subject,
    Summary,
    browser_of,
    page_summary,
    unknown_and_known,
)
from tests.support.authenticator import Authenticator
from tests.support.tenant_server import NewTenantServer
from tests.support.visitor import Seen

FORM = ({"name": "email", "required": True}, {"name": "password", "type": "password", "required": True})
Walk = Callable[[Subject, Flask], Iterator[Seen]]


def signs_in(name: str) -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[Seen]:
        page = browser_of(who, hub).open("/login")
        for _ in range(7):
            page = page.press("Sign in", identifier=who.names[name], password=WRONG)
            yield page

    return walk


def forgets(name: str, what: str = "password") -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[Seen]:
        visitor = browser_of(who, hub)
        page = visitor.open(f"/forgot-{what}").press("Send it", identifier=who.names[name])
        yield page
        for _ in range(7):
            page = page.press("Continue", code="000000")
            yield page
        yield page.press("Send it again")
        yield from then_signs_in(who, hub, WRONG, name)

    return walk


def until_no_window_turns() -> None:
    """Wait where the limit of answers begins a new window within the walks: whoever comes then has one try more."""
    window = Lockout().suspend_seconds
    if (left := window - time.time() % window) < 30:
        time.sleep(left)


def answers_for_a_pin(who: Subject, hub: Flask) -> Iterator[Seen]:
    page = browser_of(who, hub).open("/forgot-pin/questions")
    for pin in ("1", *["270486"] * 7):
        page = page.press("Save the PIN", identifier=who.email, answer_0="wrong", pin=pin)
        yield page


def registers(who: Subject, hub: Flask) -> Iterator[Seen]:
    """With a password that is right for nobody but who registers: in this browser it leads back, in another one nowhere."""
    visitor = browser_of(who, hub)
    page = visitor.open("/register").press("Create account", email=who.email, password=WRONG)
    yield page
    yield page.press("Send another mail")
    yield page.press("I have opened the link")
    attempt = page.query["attempt"]
    yield visitor.open(f"/login?attempt={attempt}").press("Sign in", identifier=who.email, password=WRONG)
    yield visitor.open(f"/login?attempt={attempt}").press("Sign in", identifier=who.email, password=PASSWORD + "x")
    yield from then_signs_in(who, hub, WRONG, "email")
    for _ in range(5):
        yield page.press("Confirm", code="000000")
    yield from then_signs_in(who, hub, WRONG, "email")


def registers_by_passkey(who: Subject, hub: Flask) -> Iterator[Seen]:
    """What was made for the address opens nothing; in the browser that made it, it leads back."""
    visitor = browser_of(who, hub)
    device, page = Authenticator(visitor.home), visitor.open("/register")
    typed = {**page.form("Create it with a passkey").fields, "email": who.email}
    told = visitor.send("POST", f"{visitor.home}/register/passkey/options", typed)
    yield told
    made = json.dumps(device.makes(json.loads(told.html)))
    page = page.press("Create it with a passkey", email=who.email, credential=made)
    yield page
    yield page.press("Send another mail")
    yield page.press("I have opened the link")
    for other, address in ((visitor, f"/login?attempt={page.query['attempt']}"), (browser_of(who, hub), "/login")):
        login = other.open(address)
        asked = other.send("POST", f"{other.home}/login/passkey/options", login.form("Sign in with a passkey").fields)
        shown = device.shows(json.loads(asked.html), device.passkeys[0])
        yield login.press("Sign in with a passkey", credential=json.dumps(shown))
    yield from then_signs_in(who, hub, WRONG, "email")


def without_password(way: str, name: str) -> Walk:
    """Be sent something, guess at what was sent, have it sent again."""

    def walk(who: Subject, hub: Flask) -> Iterator[Seen]:
        asked = {"mail": "Email me a link", "sms": "Text me a code", "device": "Ask my mailbox"}[way]
        page = browser_of(who, hub).open(f"/sign-in/{way}").press(asked, identifier=who.names[name])
        yield page
        for _ in range(7):
            page = page.press("I have said yes") if way == "device" else page.press("Sign in", code="000000")
            yield page
        yield page.press("Send another mail" if way == "device" else "Send it again")
        yield from then_signs_in(who, hub, WRONG, name)

    return walk


def loses_a_passkey(name: str) -> Walk:
    def walk(who: Subject, hub: Flask) -> Iterator[Seen]:
        for _ in range(4):
            yield browser_of(who, hub).open("/passkeys/lost").press("Send me a link", identifier=who.names[name])

    return walk


def then_signs_in(who: Subject, hub: Flask, password: str, name: str) -> Iterator[Seen]:
    yield browser_of(who, hub).open("/login").press("Sign in", identifier=who.names[name], password=password)


WALKS: dict[str, Walk] = {
    **{f"sign in by {name}": signs_in(name) for name in ("email", "username", "phone")},
    **{f"forgotten password by {name}": forgets(name) for name in ("email", "username", "phone")},
    **{f"forgotten PIN by {name}": forgets(name, "pin") for name in ("email", "phone")},
    "a PIN by answers": answers_for_a_pin,
    "sign up": registers,
    "sign up by passkey": registers_by_passkey,
    **{f"a mailed link by {name}": without_password("mail", name) for name in ("email", "username")},
    **{f"another device by {name}": without_password("device", name) for name in ("email", "username")},
    **{f"a lost passkey by {name}": loses_a_passkey(name) for name in ("email", "username")},
    "a texted code": without_password("sms", "phone"),
}


def taken_down(who: Subject, hub: Flask, walk: Walk) -> list[Summary]:
    return [page_summary(who, page) for page in walk(who, hub)]


@pytest.mark.parametrize("name", WALKS)
def test_all_names_see_the_same(new_tenant_server: NewTenantServer, hub_app: Flask, name: str) -> None:
    if name == "a PIN by answers":
        until_no_window_turns()
    walk, pins = WALKS[name], {"pin": {"is_on": True}} if "PIN" in name else {}
    nobody, people = unknown_and_known(
        new_tenant_server, hide_unknown_accounts=False, registration_form=FORM, passkeys=True, **pins
    )
    seen = taken_down(nobody, hub_app, walk)
    others = {who.state: taken_down(who, hub_app, walk) for who in people}
    assert not {state for state, other in others.items() if other != seen}, difference(seen, others)


def difference(seen: list[Summary], others: dict[str, list[Summary]]) -> str:
    """Return where each first sees something else."""
    lines = []
    for state, other in others.items():
        for at, (mine, theirs) in enumerate(zip(seen, other, strict=True)):
            if mine != theirs:
                lines += [f"{at}: {UNKNOWN} {mine[:-1]}", f"{at}: {state} {theirs[:-1]}"]
                lines += list(difflib.unified_diff(mine[-1].splitlines(), theirs[-1].splitlines(), lineterm="", n=0))[
                    :12
                ]
                break
    return "\n".join(lines)
