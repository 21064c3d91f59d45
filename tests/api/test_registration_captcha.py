"""Registration with a captcha instead of a token: POST /identity/v2/auth/register/captcha (interface user.md row U02)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.captchas import worked
from tests.support.registering import ADA, UNLIMITED, WITH_CAPTCHA, primary
from tests.support.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

BODY: dict[str, Any] = {"Password": PASSWORD, "Email": primary(ADA)}


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED, captcha={"work_bits": 8})


def solved(acme: TenantServer, body: dict[str, Any] | None = None) -> dict[str, str]:
    """Ask for a challenge by a registration without an answer, and solve it."""
    answer = acme.send("POST", WITH_CAPTCHA, body or BODY, with_secret=False)
    assert refused(answer) == (403, 982)
    asked = answer.get_json()["Data"]["Captcha"]
    return {"captcha_challenge": asked["Token"], "captcha_work": worked(asked["WorkSeed"], asked["WorkBits"])}


def test_solved_captcha_registers(acme: TenantServer) -> None:
    shown = solved(acme)
    assert answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **shown}, with_secret=False)) == {
        "IsPosted": True,
        "Data": None,
    }
    assert answered(acme.send("GET", MANAGE, email=ADA))["EmailVerified"] is False


def test_captcha_solution_works_once(acme: TenantServer) -> None:
    shown = solved(acme)
    answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **shown}, with_secret=False))
    second = {**BODY, "Email": primary("b@example.test"), **shown}
    assert refused(acme.send("POST", WITH_CAPTCHA, second, with_secret=False)) == (403, 982)


def test_malformed_registration_keeps_captcha_solution_valid(acme: TenantServer) -> None:
    shown = solved(acme)
    short = {**BODY, "BirthDate": "02-30-1990", **shown}
    assert refused(acme.send("POST", WITH_CAPTCHA, short, with_secret=False)) == (400, 968)
    assert answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **shown}, with_secret=False))["IsPosted"] is True


def test_legacy_recaptcha_fields_are_accepted(acme: TenantServer) -> None:
    older = {"recaptcha_challenge_field": "x", "recaptcha_response_field": "y"}
    assert refused(acme.send("POST", WITH_CAPTCHA, {**BODY, **older}, with_secret=False)) == (403, 982)


def test_taken_address_is_hidden_without_captcha(acme: TenantServer) -> None:
    acme.create(Email=primary(ADA))
    assert refused(acme.send("POST", WITH_CAPTCHA, BODY, with_secret=False)) == (403, 982)


def test_captcha_of_other_tenant_is_refused(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server(limits=UNLIMITED, captcha={"work_bits": 8})
    assert refused(acme.send("POST", WITH_CAPTCHA, {**BODY, **solved(other)}, with_secret=False)) == (403, 982)
