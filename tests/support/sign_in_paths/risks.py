"""Sign-ins from a new browser, which a challenge of the risk rules completes."""

from __future__ import annotations

from typing import Any

from tests.support.accounts.mailbox import code_in
from tests.support.accounts.risky_sign_ins import CHROME, FIREFOX, attempt_sign_in, sign_in
from tests.support.sign_in_paths.account import SigningAccount
from tests.support.sign_in_paths.path import SignInPath, Steps
from tests.support.sign_in_paths.results import BLOCKED_PAGE, BLOCKED_STEP, Credential, NeedsFactor, of_page, of_program
from tests.support.tenants.tenant_server import RefusedRequest

PHONE_OTP = "/identity/v2/auth/phone/otp"


def challenged(who: SigningAccount) -> str:
    """Show the password in a new browser, and return the challenge's token."""
    answer = attempt_sign_in(who, CHROME)
    if of_program(answer) != NeedsFactor():
        raise RefusedRequest(answer)
    return str(answer.get_json()["Data"]["SecondFactorAuthenticationToken"])


def by_mailed_code(who: SigningAccount) -> Steps:
    sign_in(who)
    yield
    token = challenged(who)
    yield
    return of_program(who.answer_challenge("email", {"otp": code_in(who.mailed())}, token))


def by_texted_code(who: SigningAccount) -> Steps:
    sign_in(who)
    yield
    challenged(who)
    yield
    return of_program(who.ask("PUT", {"phone": who.phone}, path=PHONE_OTP, otp=who.texted()))


def by_answers(who: SigningAccount) -> Steps:
    who.update_account(SecurityQuestionAnswer={"pet": "Grey Owl", "city": "Bern"})
    sign_in(who)
    yield
    answers = {"pet": "Grey Owl", "city": "Bern"}
    body = {"email": who.email, "password": who.person.password, "securityanswer": answers}
    headers = {"User-Agent": CHROME}
    return of_program(who.tenant.send("POST", "/identity/v2/auth/login", body, with_secret=False, headers=headers))


def by_code_on_page(who: SigningAccount) -> Steps:
    known, visitor = who.browser(), who.browser()
    known.agent, visitor.agent = FIREFOX, CHROME
    who.types_password(known.open("/login"))
    yield
    page = who.types_password(visitor.open("/login"))
    if of_page(page) != NeedsFactor():
        return of_page(page)
    yield
    return of_page(page.press("Verify", code=code_in(who.mailed())))


_PASSWORD = ("public_api/sign_in/passwords:_verify_password", "public_api/sign_in/passwords:with_password")
_DEMAND: dict[str, Any] = {"risk": {"browser": "demand"}}
PATHS = (
    SignInPath(
        "mailed code against a risk, program",
        by_mailed_code,
        (*_PASSWORD, "public_api/sign_in/sent_codes:with_email"),
        settings=_DEMAND,
    ),
    SignInPath(
        "texted code against a risk, program",
        by_texted_code,
        (*_PASSWORD, "public_api/verification/phone_confirmation:_complete_risk_challenge"),
        settings={**_DEMAND, "phone_login": True, "second_factors": {"sms": True}},
    ),
    SignInPath(
        "security answers against a risk, program",
        by_answers,
        (*_PASSWORD, "public_api/sign_in/risk_challenges:_with_answers"),
        settings={**_DEMAND, "second_factors": {"email": False, "security_questions": True}},
    ),
    SignInPath(
        "mailed code against a risk, page",
        by_code_on_page,
        ("pages_api/sign_in/password:with_password", "pages_api/sign_in/second_factor:_sign_in"),
        Credential.SESSION,
        BLOCKED_PAGE,
        (BLOCKED_STEP,),
        settings=_DEMAND,
    ),
)
