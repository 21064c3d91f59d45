"""Sign-ins that continue once the account did what the tenant requires, and sign-ins by the PIN that one of these set."""

from __future__ import annotations

from typing import Any

from tests.support.accounts.consents import POLICY, consent_answers, required_forms
from tests.support.accounts.pinned import PIN, PINS, REQUIRED, first, session, sign_in_with_pin
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import (
    BLOCKED_PAGE,
    Credential,
    NeedsAction,
    SignedIn,
    of_page,
    of_program,
)
from tests.support.tenants.tenant_server import RefusedRequest, answered


def held_up(who: SigningAccount) -> dict[str, Any]:
    """Show the password, and return what continues the sign-in."""
    answer = who.logs_in()
    if not isinstance(of_program(answer), NeedsAction):
        raise RefusedRequest(answer)
    data: dict[str, Any] = answer.get_json()["Data"]
    return data


def after_privacy_policy(who: SigningAccount) -> Steps:
    yield
    token = held_up(who)["access_token"]
    yield
    answered(who.tenant.send("GET", "/identity/v2/auth/privacypolicy/accept", bearer=token))
    return SignedIn(Credential.ACCESS_TOKEN, token)


def after_consent(who: SigningAccount) -> Steps:
    yield
    token = held_up(who)["ConsentToken"]
    yield
    return of_program(who.call("U83", consent_answers("FirstLogin"), consenttoken=token))


def after_first_pin(who: SigningAccount) -> Steps:
    yield
    token = held_up(who)["PINAuthToken"]
    yield
    return of_program(first(who, token))


def by_pin(who: SigningAccount) -> Steps:
    token = session(who)
    yield
    return of_program(sign_in_with_pin(who, token))


def after_privacy_policy_on_page(who: SigningAccount) -> Steps:
    visitor, shop = who.browser(), who.application()
    yield
    page = who.types_password(visitor.authorize(shop))
    yield
    return of_page(page.press("Accept", terms="y"))


def after_consents_on_page(who: SigningAccount) -> Steps:
    visitor, shop = who.browser(), who.application()
    yield
    page = who.types_password(visitor.authorize(shop))
    yield
    return of_page(page.press("Continue", **{"agree-terms": "y"}))


def after_first_pin_on_page(who: SigningAccount) -> Steps:
    visitor, shop = who.browser(), who.application()
    yield
    page = who.types_password(visitor.authorize(shop))
    yield
    return of_page(page.press("Save PIN", pin=PIN))


def after_missing_fields_on_page(who: SigningAccount) -> Steps:
    visitor, shop = who.browser(), who.application()
    yield
    page = who.types_password(visitor.authorize(shop))
    yield
    return of_page(page.press("Continue", first_name="Ada"))


_PASSWORD = ("public_api/sign_in/passwords:_verify_password", "public_api/sign_in/passwords:with_password")
_PAGE = ("pages_api/sign_in/password:with_password", "protocols/oauth/authorize/responses/sent_parameters:issue")
PATHS = (
    SignInPath(
        "accepted privacy policy, program",
        after_privacy_policy,
        (
            *_PASSWORD,
            "authentication/sign_in/required_actions:_policy_refusal",
            "public_api/self_service/own_account:accept_policy",
        ),
        meanwhile=("1409",),
        settings={"privacy_policy": POLICY},
    ),
    SignInPath(
        "consents after the password, program",
        after_consent,
        (*_PASSWORD, "public_api/sign_in/passwords:with_consents"),
        settings=required_forms("FirstLogin"),
    ),
    SignInPath(
        "first PIN after the password, program",
        after_first_pin,
        (*_PASSWORD, "public_api/sign_in/pins:set_first"),
        settings=REQUIRED,
    ),
    SignInPath("PIN, program", by_pin, ("public_api/sign_in/pins:with_pin",), settings=PINS),
    SignInPath(
        "accepted privacy policy, page for an application",
        after_privacy_policy_on_page,
        _PAGE,
        Credential.CODE,
        BLOCKED_PAGE,
        ("Sign in",),
        settings={"privacy_policy": POLICY},
        signed_in_at=1,
    ),
    SignInPath(
        "consents, page for an application",
        after_consents_on_page,
        _PAGE,
        Credential.CODE,
        BLOCKED_PAGE,
        ("Sign in",),
        settings=required_forms("FirstLogin"),
        signed_in_at=1,
    ),
    SignInPath(
        "first PIN, page for an application",
        after_first_pin_on_page,
        _PAGE,
        Credential.CODE,
        BLOCKED_PAGE,
        ("Sign in",),
        settings=REQUIRED,
        signed_in_at=1,
    ),
    SignInPath(
        "missing fields, page for an application",
        after_missing_fields_on_page,
        _PAGE,
        Credential.CODE,
        BLOCKED_PAGE,
        ("Sign in",),
        settings={
            "ask_required_fields": True,
            "registration_form": ({"name": "email"}, {"name": "first_name", "required": True}),
        },
        signed_in_at=1,
    ),
)
