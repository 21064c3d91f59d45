"""Every refusal and response of push devices and Duo."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.identity.directory.tenants import tenant_writes
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.credentials.devices import AWS_KEY, PUSH, Phone, registration_address, store_service_secrets
from tests.support.credentials.factors import OWN_2FA, SecondFactorHolder
from tests.support.fakes.duo import DUO, SECRET, FakeDuo, duo
from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, refusals
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operation_cases.factor_login import SESSION, base, of
from tests.support.operation_cases.shapes import DELETED, POSTED, PROFILE
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.services.identity_service import before_the_store
from tests.support.tenants.tenant_server import NewTenantServer, answered

BACK = "https://shop.example/duo"
RUNNING: list[FakeDuo] = []


@pytest.fixture(autouse=True)
def duo_server(services: IdentityServices) -> Iterator[None]:
    with duo(services) as running:
        RUNNING.append(running)
        yield
        RUNNING.remove(running)


def on(*kinds: str) -> dict[str, Any]:
    """Return tenant settings with these factors and an authenticator app."""
    factors = {"totp": True, "email": False, "passkey": False, **dict.fromkeys(kinds, True)}
    return {"two_factor": "optional", "second_factors": factors, "push": PUSH, "duo": {**DUO, "redirect_uris": [BACK]}}


def serving(account_holder: AccountHolder) -> SecondFactorHolder:
    """Store the secrets of the push and Duo services."""
    store_service_secrets(account_holder.tenant, push=AWS_KEY, duo={"client_secret": SECRET})
    return of(account_holder)


def device(account_holder: AccountHolder) -> tuple[SecondFactorHolder, Phone]:
    who = serving(account_holder)
    phone = Phone(who.tenant)
    answered(phone.scan(registration_address(who.own_factors()["PushQRCode"])))
    return who, phone


def prompt(who: SecondFactorHolder) -> str:
    """Return the redirect address of Duo."""
    shown = who.tenant.send("GET", OWN_2FA, bearer=who.bearer, duoredirecturi=BACK)
    return str(answered(shown)["DuoAuthEndpoint"])


def with_duo(account_holder: AccountHolder) -> SecondFactorHolder:
    who = serving(account_holder)
    answered(who.own("PUT", "duo", RUNNING[-1].passed(prompt(who))))
    return who


def led(who: SecondFactorHolder, **claims: Any) -> tuple[str, dict[str, str]]:
    challenge = who.challenged(duoredirecturi=BACK)
    return challenge["SecondFactorAuthenticationToken"], RUNNING[-1].passed(challenge["DuoAuthEndpoint"], **claims)


def without(who: AccountHolder, service: str) -> None:
    """Remove a service's settings."""
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        stored = tenant_writes.by_name(work, who.tenant.name)
        assert stored is not None
        tenant_writes.change(work, settings={**stored.settings, service: None})
    who.tenant.services.directory.clear_cache()


def ask(row: str, who: AccountHolder, token: str, body: Mapping[str, Any] | None = None) -> TestResponse:
    return who.call(row, body, secondfactorauthenticationtoken=token)


def with_app(row: str, body: Mapping[str, Any] | None = None) -> Act:
    """Call it for an account with an authenticator app only."""

    def act(account_holder: AccountHolder) -> TestResponse:
        who = serving(account_holder).enrols()
        return ask(row, who, who.token(), body)

    return act


def unset(row: str) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who, _ = device(account_holder)
        token = who.token()
        who.advance_clock(seconds=31)
        without(who, "push")
        return ask(row, who, token)

    return act


def polled(word: str = "") -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who, phone = device(account_holder)
        token = who.token()
        assert not word or answered(phone.respond(word))
        return ask("M13", who, token)

    return act


def device_answers(first: str, **members: Any) -> Act:
    """Answer on the device, after an optional first answer."""

    def act(account_holder: AccountHolder) -> TestResponse:
        who, phone = device(account_holder)
        who.token()
        assert not first or answered(phone.respond(first))
        return phone.respond("Yes", **members)

    return act


def duo_response(**claims: Any) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who = with_duo(account_holder)
        token, response = led(who, **claims)
        return ask("M12", who, token, response)

    return act


def secretless(row: str) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who = with_duo(account_holder)
        token, response = led(who)
        store_service_secrets(who.tenant, duo={"client_secret": ""})
        if row == "M70":
            return renewed(who, response)
        return ask(row, who, token, response) if row == "M12" else who.own("PUT", "duo", response)

    return act


def own_duo(**claims: Any) -> Act:
    def act(account_holder: AccountHolder) -> TestResponse:
        who = serving(account_holder)
        return who.own("PUT", "duo", RUNNING[-1].passed(prompt(who), **claims))

    return act


def renewed(who: AccountHolder, response: Mapping[str, str]) -> TestResponse:
    """Call the step-up operation."""
    row = ROWS["M70"]
    return who.tenant.send(row.method, row.path, response, bearer=who.bearer)


def led_again(who: SecondFactorHolder, **claims: Any) -> dict[str, str]:
    begun = who.tenant.send("GET", ROWS["M63"].path, bearer=who.bearer, duoredirecturi=BACK)
    return RUNNING[-1].passed(answered(begun)["DuoAuthEndpoint"], **claims)


def again(response: Mapping[str, str] | None, **claims: Any) -> Act:
    """Step up with the given response, or with one from Duo."""

    def act(who: AccountHolder) -> TestResponse:
        return renewed(who, response if response is not None else led_again(with_duo(who), **claims))

    return act


def removes(path: str) -> Act:
    return lambda who: of(who).own("DELETE", path)


def unknown(row: str) -> Act:
    return lambda who: who.managed(row, uid="0" * 32)


def signs_in(back: str) -> Act:
    return lambda who: with_duo(who).signs_in(duoredirecturi=back)


def reads(back: str) -> Act:
    return lambda who: who.tenant.send("GET", OWN_2FA, bearer=serving(who).bearer, duoredirecturi=back)


NO, ANY = {"auth_result": {"result": "deny"}}, {"state": "x", "code": "y"}
EVIL, BROKEN = "https://evil.example/duo", "javascript:x"
REFUSALS: list[Refusal] = [
    *base("M02", None, lambda who: who.enrols()),
    *refusals("M02", (1298, unset("M02"), on("push")), (1299, with_app("M02"), on()),
              (1313, with_app("M02"), on("push"))),
    *base("M12", ANY, lambda who: who.enrols()),
    *refusals("M12", (1330, with_app("M12", ANY), on()), (1331, secretless("M12"), on("duo")),
              (1332, duo_response(**NO), on("duo")), (1333, lambda who: ask("M12", with_duo(who), of(who).token(), ANY), on("duo")),
              (1334, with_app("M12", ANY), on("duo"))),
    *refusals("M13", (1295, polled(), on("push")), (1296, lambda who: ask("M13", who, "none"), on("push")),
              (1298, unset("M13"), on("push")), (1299, with_app("M13"), on()), (1312, polled("No"), on("push")),
              (1313, with_app("M13"), on("push"))),
    *refusals("M14", (1296, lambda who: ask("M14", who, "none", {"verify": "Yes", "signature": "00"}), on("push")),
              (1297, device_answers("", signature="00"), on("push")), (1311, device_answers("Yes"), on("push")),
              (1312, device_answers("No"), on("push"))),
    *refusals("M26", (1330, lambda who: of(who).own("PUT", "duo", ANY), on()), (1331, secretless("M26"), on("duo")),
              (1332, own_duo(**NO), on("duo")),
              (1333, lambda who: serving(who).own("PUT", "duo", ANY), on("duo"))),
    *refusals("M35", (1330, removes("duo"), on()), (1334, removes("duo"), on("duo"))),
    *refusals("M36", (1299, removes("push"), on()), (1313, removes("push"), on("push"))),
    *refusals("M70", (1330, again(ANY), on()), (1331, secretless("M70"), on("duo")), (1332, again(None, **NO), on("duo")),
              (1333, lambda who: again(ANY)(with_duo(who)), on("duo")), (1334, again(ANY), on("duo"))),
    *refusals("M39", (984, unknown("M39"), on("duo"))),
    *refusals("M44", (984, unknown("M44"), on("push"))),
    *refusals("M01", (1335, signs_in(EVIL), on("duo")), (1336, signs_in(BROKEN), on("duo"))),
    *refusals("M19", (1335, reads(EVIL), on("duo")), (1336, reads(BROKEN), on("duo"))),
]  # fmt: skip
NOT_HERE: dict[tuple[str, int], str] = {
    ("M13", 1278): "1312",
    (
        "M13",
        1297,
    ): "only our pages show a number that can be the wrong one: tests/pages/sign_in/second_factors/test_push_and_duo.py",
    ("M13", 1311): "two polls in one moment: tests/api/second_factors/test_all_authenticators.py",
    ("M26", 1334): "the first prompt enrols",
    ("M35", 1121): "a missing item has an error code of its own",
    ("M36", 1121): "a missing item has an error code of its own",
}
VALID = {"SecondFactorValidationToken": str, "ExpireIn": str}
Prepare = Callable[[AccountHolder], Ask]


def token_of(who: SecondFactorHolder, body: Mapping[str, Any] | None = None) -> Ask:
    return Ask(body, {"secondfactorauthenticationtoken": who.token()})


def beside_the_app(account_holder: AccountHolder) -> Ask:
    """With an app enrolled, push is sent on request."""
    return token_of(device(account_holder)[0].enrols())


def approved(account_holder: AccountHolder) -> Ask:
    who, phone = device(account_holder)
    requested = token_of(who)
    answered(phone.respond("Yes"))
    return requested


def on_the_device(account_holder: AccountHolder) -> Ask:
    who, phone = device(account_holder)
    who.token()
    token = str(phone.received_messages()[-1]["secondfactorauthenticationtoken"])
    signed = {"verify": "Yes", "signature": phone.sign(f"Yes{token}")}
    return Ask(signed, {"secondfactorauthenticationtoken": token})


def from_duo(account_holder: AccountHolder) -> Ask:
    token, response = led(with_duo(account_holder))
    return Ask(response, {"secondfactorauthenticationtoken": token})


def first_from_duo(account_holder: AccountHolder) -> Ask:
    return Ask(RUNNING[-1].passed(prompt(serving(account_holder))))


def prepared_by(has: Callable[[AccountHolder], Any]) -> Prepare:
    def prepare(who: AccountHolder) -> Ask:
        has(who)
        return Ask()

    return prepare


def named(has: Callable[[AccountHolder], Any]) -> Prepare:
    def prepare(who: AccountHolder) -> Ask:
        has(who)
        return Ask(query={"uid": who.uid})

    return prepare


ANSWERS: list[Answer] = [
    Answer("M02", beside_the_app, POSTED, on("push")),
    Answer("M12", from_duo, SESSION, on("duo"), events=("Login",)),
    Answer("M13", approved, SESSION, on("push"), events=("Login",)),
    Answer("M14", on_the_device, POSTED, on("push")),
    Answer("M26", first_from_duo, PROFILE, on("duo")),
    Answer("M35", prepared_by(with_duo), DELETED, on("duo")),
    Answer("M36", prepared_by(device), DELETED, on("push")),
    Answer("M70", lambda who: Ask(led_again(with_duo(who))), VALID, on("duo")),
    Answer("M39", named(with_duo), DELETED, on("duo")),
    Answer("M44", named(device), DELETED, on("push")),
]


@before_the_store
@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@before_the_store
@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)
