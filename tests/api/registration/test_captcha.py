"""Registration with a captcha instead of a token: POST /identity/v2/auth/register/captcha."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.registering import ADA, UNLIMITED, WITH_CAPTCHA, primary
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.captchas import worked

BODY: dict[str, Any] = {"Password": PASSWORD, "Email": primary(ADA)}


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED, captcha={"work_bits": 8})


def solved_captcha(acme: TenantServer) -> dict[str, str]:
    """Request a captcha by a registration without a solution, and return the solution."""
    answer = acme.send("POST", WITH_CAPTCHA, BODY, with_secret=False)
    assert refused(answer) == (403, 982)
    challenge = answer.get_json()["Data"]["Captcha"]
    return {
        "captcha_challenge": challenge["Token"],
        "captcha_work": worked(challenge["WorkSeed"], challenge["WorkBits"]),
    }


def test_solved_captcha_registers(acme: TenantServer) -> None:
    solution = solved_captcha(acme)
    assert answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **solution}, with_secret=False)) == {
        "IsPosted": True,
        "Data": None,
    }
    assert answered(acme.send("GET", MANAGE, email=ADA))["EmailVerified"] is False


def test_captcha_solution_works_once(acme: TenantServer) -> None:
    solution = solved_captcha(acme)
    answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **solution}, with_secret=False))
    second = {**BODY, "Email": primary("b@example.test"), **solution}
    assert refused(acme.send("POST", WITH_CAPTCHA, second, with_secret=False)) == (403, 982)


def test_malformed_registration_keeps_captcha_solution_valid(acme: TenantServer) -> None:
    solution = solved_captcha(acme)
    short = {**BODY, "BirthDate": "02-30-1990", **solution}
    assert refused(acme.send("POST", WITH_CAPTCHA, short, with_secret=False)) == (400, 968)
    assert answered(acme.send("POST", WITH_CAPTCHA, {**BODY, **solution}, with_secret=False))["IsPosted"] is True


def test_legacy_recaptcha_fields_are_accepted(acme: TenantServer) -> None:
    older = {"recaptcha_challenge_field": "x", "recaptcha_response_field": "y"}
    assert refused(acme.send("POST", WITH_CAPTCHA, {**BODY, **older}, with_secret=False)) == (403, 982)


def test_taken_address_is_hidden_without_captcha(acme: TenantServer) -> None:
    acme.create(Email=primary(ADA))
    assert refused(acme.send("POST", WITH_CAPTCHA, BODY, with_secret=False)) == (403, 982)


@pytest.mark.both_databases
def test_captcha_of_other_tenant_is_refused(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server(limits=UNLIMITED, captcha={"work_bits": 8})
    assert refused(acme.send("POST", WITH_CAPTCHA, {**BODY, **solved_captcha(other)}, with_secret=False)) == (403, 982)
