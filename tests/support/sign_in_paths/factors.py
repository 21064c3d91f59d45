"""Sign-ins that a second factor completes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from app.contract.second_factors.challenge import FactorKind
from tests.support.accounts.mailbox import code_in
from tests.support.authenticators import DRIVERS, Driver
from tests.support.authenticators.push import phoned
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_PAGE, BLOCKED_STEP, Credential, NeedsFactor, of_page, of_program
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import VisitedPage

Ways = Callable[[SigningAccount], Steps]
Verify = Callable[[SecondFactorHolder, VisitedPage], VisitedPage]
DRIVER = {driver.kind: driver for driver in DRIVERS}


def holder_of(who: SigningAccount) -> SecondFactorHolder:
    """Return the account as the drivers of authenticators take it."""
    return SecondFactorHolder(**{item.name: getattr(who, item.name) for item in fields(SecondFactorHolder)})


def verifying(driver: Driver) -> Ways:
    """Show the password and an enrolled factor, as a program."""

    def steps(who: SigningAccount) -> Steps:
        with driver.external_services(who.tenant.services):
            holder = driver.equipped(holder_of(who))
            driver.enrol(holder)
            yield
            token = holder.token()
            yield
            response = driver.response(holder, token)
            yield
            return of_program(driver.show(holder, token, response))

    return steps


def enrolling(driver: Driver) -> Ways:
    """Show the password, and enrol the factor that the tenant requires, as a program."""

    def steps(who: SigningAccount) -> Steps:
        with driver.external_services(who.tenant.services):
            holder = driver.equipped(holder_of(who))
            yield
            challenge = holder.challenged()
            token = str(challenge["SecondFactorAuthenticationToken"])
            yield
            if (begun := driver.begin(holder, token)) is not None:
                answered(begun)
            response = driver.first_response(holder, {**challenge, "SecondFactorAuthenticationToken": token})
            yield
            return of_program(driver.enrols_by(holder, token, response))

    return steps


def verifying_on_page(driver: Driver, verify: Verify) -> Ways:
    """Show the password and an enrolled factor on our pages."""

    def steps(who: SigningAccount) -> Steps:
        holder = driver.equipped(holder_of(who))
        driver.enrol(holder)
        holder.advance_clock(minutes=1)
        visitor = who.browser()
        yield
        page = who.types_password(visitor.open("/login"))
        if of_page(page) != NeedsFactor():
            return of_page(page)
        yield
        return of_page(verify(holder, page))

    return steps


def shows_app_code(who: SecondFactorHolder, page: VisitedPage) -> VisitedPage:
    return page.press("Verify", code=who.next_code())


def types_texted_code(who: SecondFactorHolder, page: VisitedPage) -> VisitedPage:
    return page.press("Verify", code=who.texted())


def types_mailed_code(who: SecondFactorHolder, page: VisitedPage) -> VisitedPage:
    return page.press("Verify", code=code_in(who.mailed()))


def types_backup_code(who: SecondFactorHolder, page: VisitedPage) -> VisitedPage:
    other = page.visitor.open(f"{page.address}&kind=backup_code")
    return other.press("Verify", backup_code=who.codes.pop())


def approves_on_phone(who: SecondFactorHolder, page: VisitedPage) -> VisitedPage:
    number = re.findall(r'class="number"[^>]*>(\d\d)<', page.html)[0]
    answered(phoned(who).device.respond("Yes", number=number))
    return page.press("Check now")


def _verified(kind: FactorKind, *callers: str) -> SignInPath:
    driver = DRIVER[kind]
    return SignInPath(
        f"{kind.value} after the password, program",
        verifying(driver),
        (_FIRST, _PASSWORD, *callers),
        settings=driver.tenant_settings(two_factor="optional"),
    )


def _enrolled(kind: FactorKind, *callers: str) -> SignInPath:
    driver = DRIVER[kind]
    return SignInPath(
        f"new {kind.value} after the password, program",
        enrolling(driver),
        (_FIRST, _PASSWORD, *callers),
        settings=driver.tenant_settings(two_factor="required"),
    )


def _on_page(kind: FactorKind, verify: Verify) -> SignInPath:
    driver = DRIVER[kind]
    settings: dict[str, Any] = driver.tenant_settings(two_factor="optional")
    return SignInPath(
        f"{kind.value} after the password, page",
        verifying_on_page(driver, verify),
        ("pages_api/sign_in/password:with_password", "pages_api/sign_in/second_factor:_sign_in"),
        Credential.SESSION,
        BLOCKED_PAGE,
        (BLOCKED_STEP,),
        settings=settings,
    )


_FIRST, _PASSWORD = (
    "public_api/sign_in/passwords:with_password_and_factor",
    "public_api/sign_in/passwords:_verify_password",
)
_FACTORS, _SENT = "public_api/sign_in/second_factors", "public_api/sign_in/sent_codes"
_PASSKEY, _PUSH = "public_api/sign_in/passkey_factor:_complete", "public_api/sign_in/push_approval:ping"
PATHS = (
    _verified(FactorKind.TOTP, f"{_FACTORS}:with_totp"),
    _verified(FactorKind.SMS, f"{_SENT}:with_sms"),
    _verified(FactorKind.EMAIL, f"{_SENT}:with_email"),
    _verified(FactorKind.PUSH, _PUSH),
    _verified(FactorKind.PASSKEY, _PASSKEY),
    _verified(FactorKind.QUESTIONS, f"{_FACTORS}:with_answers"),
    _verified(FactorKind.DUO, f"{_FACTORS}:with_duo"),
    _verified(FactorKind.BACKUP_CODE, f"{_FACTORS}:with_backup_code"),
    _enrolled(FactorKind.TOTP, f"{_FACTORS}:with_totp"),
    _enrolled(FactorKind.SMS, f"{_SENT}:with_sms"),
    _enrolled(FactorKind.EMAIL, f"{_SENT}:with_email"),
    _enrolled(FactorKind.PUSH, _PUSH),
    _enrolled(FactorKind.PASSKEY, _PASSKEY),
    _enrolled(FactorKind.QUESTIONS, f"{_FACTORS}:with_new_answers"),
    _enrolled(FactorKind.DUO, f"{_FACTORS}:with_duo"),
    _on_page(FactorKind.TOTP, shows_app_code),
    _on_page(FactorKind.SMS, types_texted_code),
    _on_page(FactorKind.EMAIL, types_mailed_code),
    _on_page(FactorKind.PUSH, approves_on_phone),
    _on_page(FactorKind.BACKUP_CODE, types_backup_code),
)
