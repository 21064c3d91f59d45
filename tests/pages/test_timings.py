"""Print how long pages and operations take for known and unknown identifiers; nothing is asserted.

`TIMINGS=200 pytest -q tests/pages/test_timings.py` prints medians of 200 runs; the default of 1 only shows that it works.
"""

from __future__ import annotations

import json
import os
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from time import perf_counter, process_time
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import create_engine, text

from tests.support.accounts.account_states import (
    HIDING,
    OPEN_LIMITS,
    PASSWORD,
    UNKNOWN,
    WRONG,
    Subject,
    browser_of,
)  # fmt: skip
from tests.support.accounts.registering import primary
from tests.support.accounts.sotts import sott_of
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.services.identity_service import MovableClock, pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.visitors.captchas import worked
from tests.support.visitors.visitor import VisitedPage

pytestmark = pytest.mark.both_databases

RUNS = int(os.environ.get("TIMINGS", "1"))
AUTH = "/identity/v2/auth"
FREE = {"amount": 0, "minutes": 1}
UNLIMITED = {
    "limits": {**OPEN_LIMITS, "email_codes_tried_per_day": 0, "passkeys_per_minute_per_address": 0},
    "sending": {"mails": FREE, "sms": FREE, "mails_in_all": FREE, "mails_by_type": {}, "sms_per_address": FREE, "sms_per_day": 0},
    "lockout": {"type": "none", "suspend_seconds": 1, "security_answer_attempts": 20},
}  # fmt: skip
FORM = ({"name": "email", "required": True}, {"name": "password", "type": "password", "required": True})
Timed = Iterator[tuple[str, Callable[[], Any]]]


@dataclass
class TimedPress:
    """A page, and then the page that a press led to."""

    page: VisitedPage

    def press(self, button: str, **typed: str) -> None:
        self.page = self.page.press(button, **typed)


def operations(who: Subject) -> Timed:
    """Yield the API operations in an order in which each finds the state that the one before left."""
    for name, value in who.names.items():
        body = {name: value, "password": WRONG}
        yield f"POST login, {name}", partial(who.ask, "POST", f"{AUTH}/login", body)
    yield "PUT register (mail again)", lambda: who.ask("PUT", f"{AUTH}/register", {"email": who.email})
    yield "PUT email (code)", lambda: who.ask("PUT", f"{AUTH}/email", {"email": who.email, "otp": "000000"})
    for name in ("email", "username"):
        parameters = {name: who.names[name]}
        body = {**parameters, "otp": "000000", "password": PASSWORD}
        yield f"POST password, {name}", partial(who.ask, "POST", f"{AUTH}/password", parameters)
        yield f"PUT password (code), {name}", partial(who.ask, "PUT", f"{AUTH}/password", body)
    texted = {"phone": who.phone, "otp": "000000", "password": PASSWORD}
    yield "POST password/otp", lambda: who.ask("POST", f"{AUTH}/password/otp", {"phone": who.phone})
    yield "PUT password/otp", lambda: who.ask("PUT", f"{AUTH}/password/otp", texted)
    answer = {"email": who.email, "password": PASSWORD, "securityanswer": {"pet": "no"}}
    yield "PUT password/securityanswer", lambda: who.ask("PUT", f"{AUTH}/password/securityanswer", answer)
    for name, value in who.names.items():
        path, parameters = f"{AUTH}/securityquestion/{name}", {name: value}
        yield f"GET securityquestion/{name}", partial(who.ask, "GET", path, **parameters)


def passwordless(who: Subject) -> Timed:
    """Yield the passwordless operations: send a code or link, and redeem it."""
    less = f"{AUTH}/login/passwordlesslogin"
    for name in ("email", "username"):
        parameters = {name: who.names[name]}
        body = {**parameters, "otp": "000000"}
        yield f"GET passwordlesslogin/email, {name}", partial(who.ask, "GET", f"{less}/email", **parameters)
        path = f"{less}/{name}/verifyotp"
        yield f"POST verifyotp, {name}", partial(who.ask, "POST", path, body)
    texted = {"phone": who.phone, "otp": "000000"}
    yield "GET passwordlesslogin/otp", lambda: who.ask("GET", f"{less}/otp", phone=who.phone)
    yield "PUT passwordlesslogin/otp/verify", lambda: who.ask("PUT", f"{less}/otp/verify", texted)
    stored = secrets.token_hex(16)
    yield "GET smartlogin", lambda: who.ask("GET", f"{AUTH}/login/smartlogin", clientguid=stored, email=who.email)
    yield "GET smartlogin/ping", lambda: who.ask("GET", f"{AUTH}/login/smartlogin/ping", clientguid=stored)


def one_touch(who: Subject) -> Timed:
    """Yield the one-touch operations; the captcha is solved before the measurement."""
    for method, name in (("email", "email"), ("phone", "phone")):
        path, body = f"{AUTH}/onetouchlogin/{method}", {name: who.names[name], "clientguid": secrets.token_hex(16)}
        requested = who.ask("POST", path, body).get_json()["Data"]["Captcha"]
        shown = {
            "captcha_challenge": requested["Token"],
            "captcha_work": worked(requested["WorkSeed"], requested["WorkBits"]),
        }
        yield f"POST onetouchlogin/{method}", partial(who.ask, "POST", path, {**body, **shown})
    guess = {"phone": who.phone}
    yield (
        "PUT onetouchlogin/phone/verify",
        lambda: who.ask("PUT", f"{AUTH}/onetouchlogin/phone/verify", guess, otp="000000"),
    )


def with_pin_or_passkey(who: Subject) -> Timed:
    """Yield PIN and passkey operations that take an identifier."""
    for name, value in who.names.items():
        forgot, reset = f"{AUTH}/pin/forgot/{'otp' if name == 'phone' else name}", f"{AUTH}/pin/reset/otp/{name}"
        body = {name: value, "otp": "000000", "pin": "905142"}
        yield f"POST {forgot.removeprefix(AUTH)}", partial(who.ask, "POST", forgot, {name: value})
        yield f"PUT {reset.removeprefix(AUTH)}", partial(who.ask, "PUT", reset, body)
    answer = {"email": who.email, "pin": "905142", "securityanswer": {"pet": "no"}}
    yield "PUT pin/reset/securityanswer", lambda: who.ask("PUT", f"{AUTH}/pin/reset/securityanswer/email", answer)
    yield "POST passkey/forgot", lambda: who.ask("POST", f"{AUTH}/passkey/forgot", {"email": who.email})
    started = {"identifier": who.email}
    yield "GET login/passkey/begin", lambda: who.ask("GET", f"{AUTH}/login/passkey/begin", **started)
    yield "GET register/passkey/begin", lambda: who.ask("GET", f"{AUTH}/register/passkey/begin", **started)


def second_factor_operations(who: Subject) -> Timed:
    for name, value in who.names.items():
        body = {name: value, "password": WRONG}
        yield f"POST login/2fa, {name}", partial(who.ask, "POST", f"{AUTH}/login/2fa", body)
    yield "GET account/2fa/email", lambda: who.ask("GET", f"{AUTH}/account/2fa/email", emailid=who.email)


def lost_passkey_page(who: Subject, hub: Flask) -> Timed:
    page = browser_of(who, hub).open("/passkeys/lost")
    yield "page: lost passkey", lambda: page.press("Email me a link", identifier=who.email)


def passwordless_pages(who: Subject, hub: Flask) -> Timed:
    for method, name, button in (("mail", "email", "Email me a link"), ("sms", "phone", "Text me a code")):
        sent = TimedPress(browser_of(who, hub).open(f"/sign-in/{method}"))
        yield f"page: sign in by {method}", partial(sent.press, button, identifier=who.names[name])
        yield f"page: code of a sign-in by {method}", partial(sent.press, "Sign in", code="000000")
    device = browser_of(who, hub).open("/sign-in/device")
    yield "page: ask another device", lambda: device.press("Email me a sign-in request", identifier=who.email)


def registrations(who: Subject) -> Timed:
    """Yield the registration; an unknown subject has an account afterwards, so each run needs a new one."""
    body, sott = {"Email": primary(who.email), "Password": WRONG}, sott_of(who.tenant)
    yield "POST register", lambda: who.ask("POST", f"{AUTH}/register", body, sott=sott)


def pages(who: Subject, hub: Flask) -> Timed:
    """Yield the pages; each form is opened before the measurement."""
    visitor = browser_of(who, hub)
    for name, value in who.names.items():
        page = visitor.open("/login")
        yield (
            f"page: sign in, {name}",
            partial(page.press, "Sign in", identifier=value, password=WRONG),
        )
    for name, value in who.names.items():
        visitor = browser_of(who, hub)
        sent = TimedPress(visitor.open("/forgot-password"))
        yield f"page: forgotten password, {name}", partial(sent.press, "Continue", identifier=value)
        yield f"page: code of a reset, {name}", partial(sent.press, "Verify", code="000000")


def sign_up(who: Subject, hub: Flask) -> Timed:
    """Yield registration pages, then sign-ins in the registering browser and in another one."""
    page, made = browser_of(who, hub).open("/register"), []
    yield "page: sign up", lambda: made.append(page.press("Create account", email=who.email, password=WRONG))
    seen = made[0]
    yield "page: check your mail", lambda: seen.visitor.open(seen.address)
    yield "page: code of a sign-up", lambda: seen.press("Verify", code="000000")
    pass_time(who.tenant.services, seconds=31)
    yield "page: another mail", lambda: seen.press("Resend email")
    back = seen.visitor.open(f"/login?attempt={seen.query['attempt']}")
    yield "page: sign in where one signed up", lambda: back.press("Sign in", identifier=who.email, password=WRONG)
    other = browser_of(who, hub).open("/login")
    yield "page: sign in with another browser", lambda: other.press("Sign in", identifier=who.email, password=WRONG)


def sign_up_by_passkey(who: Subject, hub: Flask) -> Timed:
    visitor = browser_of(who, hub)
    page, device, report = visitor.open("/register"), Authenticator(visitor.home), []
    typed = {**page.form("Continue with a passkey").fields, "email": who.email}
    address = f"{visitor.home}/register/passkey/options"
    yield "page: options of a sign-up by passkey", lambda: report.append(visitor.send("POST", address, typed))
    made = json.dumps(device.makes(json.loads(report[0].html)))
    yield "page: sign up by passkey", lambda: page.press("Continue with a passkey", email=who.email, credential=made)
    login = browser_of(who, hub).open("/login")
    requested = login.visitor.send(
        "POST", f"{visitor.home}/login/passkey/options", login.form("Sign in with a passkey").fields
    )
    shown = json.dumps(device.shows(json.loads(requested.html), device.passkeys[0]))
    yield "page: sign in by what was signed up with", lambda: login.press("Sign in with a passkey", credential=shown)


def measure(times: dict[tuple[str, str], list[tuple[float, float]]], timed: Timed, kind: str) -> None:
    for name, action in timed:
        started, worked = perf_counter(), process_time()
        action()
        times[name, kind].append((perf_counter() - started, process_time() - worked))


@pytest.mark.timeout(120 + 20 * RUNS)
def test_timings_of_known_and_unknown_are_printed(
    new_tenant_server: NewTenantServer, hub_app: Flask, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = new_tenant_server(
        **{**HIDING, **UNLIMITED, "registration_form": FORM, "pin": {"is_on": True}, "passkeys": True}
    )
    assert isinstance(tenant.services.clock, MovableClock)
    ada, unknown = Subject(tenant, "known").create(), Subject(tenant, UNKNOWN)
    two = Subject(new_tenant_server(**{**HIDING, **UNLIMITED, "two_factor": "optional"}), "known").create()
    times: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for number in range(RUNS + 1):
        if number == 1:
            times.clear()  # the first run warms caches
        if number % 20 == 1:
            tidy(tenant)
        order = [(ada, "known"), (unknown, UNKNOWN)]
        for who, kind in order if number % 2 else reversed(order):
            measure(times, operations(who), kind)
            measure(times, pages(who, hub_app), kind)
            measure(times, passwordless(who), kind)
            measure(times, passwordless_pages(who, hub_app), kind)
            measure(times, one_touch(who), kind)
            measure(times, with_pin_or_passkey(who), kind)
            measure(times, second_factor_operations(two if kind == "known" else Subject(two.tenant, UNKNOWN)), kind)
            measure(times, lost_passkey_page(who, hub_app), kind)
            by_page = (partial(sign_up, hub=hub_app), partial(sign_up_by_passkey, hub=hub_app))
            for walk in (registrations, *by_page):
                measure(times, walk(who if kind == "known" else Subject(tenant, UNKNOWN)), kind)
    with capsys.disabled():
        print(report(times))
    assert all(len(seconds) == RUNS for seconds in times.values())


def tidy(tenant: TenantServer) -> None:
    """Run VACUUM ANALYZE, which autovacuum does in production; otherwise plans assume empty tables."""
    if url := tenant.services.settings.migrate_url:
        with create_engine(url, isolation_level="AUTOCOMMIT").connect() as owner:
            owner.execute(text("VACUUM ANALYZE"))


def report(times: dict[tuple[str, str], list[tuple[float, float]]]) -> str:
    """Return a table of medians, by wall clock and by CPU time of this process."""
    lines = [f"\n  medians of {RUNS}, ms{'':24} known  unknown        CPU: known  unknown"]
    for name in dict.fromkeys(name for name, _ in times):
        line = f"  {name:40}"
        for which in (0, 1):
            known, unknown = (median(times[which] for times in times[name, kind]) * 1000 for kind in ("known", UNKNOWN))
            line += f" {known:8.2f} {unknown:8.2f}  {(unknown / known - 1) * 100:+4.0f} % "
        lines.append(line)
    return "\n".join(lines)
