"""Forgotten, reset and changed passwords over the interface, beside the named errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.customers import NEW, OLD, PATH, UNLIMITED, Customer, a_customer
from tests.support.mailbox import code_in, link_in, token_in
from tests.support.tenant_server import MANAGE, NewTenantServer, answered, refused

CHANGE = f"{PATH}/change"
BY_SMS, BY_ANSWER = f"{PATH}/otp", f"{PATH}/securityanswer"
ASKED = "/identity/v2/auth/securityquestion"
QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?"}
Make = Callable[..., Customer]


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Make:
    def make(**settings: Any) -> Customer:
        return a_customer(new_tenant_server, **settings)

    return make


def change(c: Customer, bearer: str, old: str = OLD, new: str = NEW) -> TestResponse:
    return c.tenant.send("PUT", CHANGE, {"oldpassword": old, "newpassword": new}, bearer=bearer)


# Reset by what was mailed.


@pytest.mark.parametrize("path", [PATH, f"{PATH}/reset", "/Identity/V2/Auth/Password/Reset"])
def test_a_token_sets_a_password(customer: Make, path: str) -> None:
    c = customer()
    assert answered(c.ask("PUT", {"resettoken": c.token(), "password": NEW}, path=path)) == {"IsPosted": True}
    assert refused(c.logs_in(OLD)) == (401, 966)
    answered(c.logs_in(NEW))


def test_a_code_sets_a_password_by_email_and_by_username(customer: Make) -> None:
    c = customer()
    answered(c.by_code(c.code()))
    answered(c.reset(username=c.username, otp=c.code(), password="Amber-window-44"))
    answered(c.logs_in("Amber-window-44"))


def test_the_mail_leads_where_the_caller_wants(customer: Make) -> None:
    c = customer(url_whitelist=("https://shop.example",))
    answered(c.forgot(resetpasswordurl="https://shop.example/set?from=mail"))
    link = link_in(c.mails()[-1])
    assert link.startswith("https://shop.example/set?from=mail&vtype=reset&vtoken=")


def test_the_tenant_says_whether_a_mail_has_a_code(customer: Make) -> None:
    c = customer(reset_password_codes=False, url_whitelist=("https://shop.example",))
    answered(c.forgot(resetpasswordurl="https://shop.example/set"))
    with pytest.raises(IndexError):
        code_in(c.mails()[-1])


def test_who_resets_is_signed_in_where_the_tenant_wants_it(customer: Make) -> None:
    c = customer(login_on_password_reset=True)
    made = answered(c.reset(resettoken=c.token(), password=NEW))
    token = made["Data"]["access_token"]
    answered(c.tenant.send("GET", "/identity/v2/auth/account", bearer=token))


def test_a_reset_ends_every_token(customer: Make) -> None:
    c = customer()
    held = answered(c.logs_in())
    answered(c.reset(resettoken=c.token(), password=NEW))
    assert refused(c.tenant.send("GET", "/identity/v2/auth/account", bearer=held["access_token"])) == (401, 1409)
    refresh = c.tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=held["refresh_token"])
    assert refused(refresh) == (403, 1217)


def test_a_refused_password_leaves_token_and_code_good(customer: Make) -> None:
    c = customer()
    token = c.token()
    assert refused(c.reset(resettoken=token, password=OLD)) == (403, 1015)
    assert refused(c.reset(resettoken=token, password="Password-1234")) == (403, 1216)
    answered(c.reset(resettoken=token, password=NEW))
    code = c.code()
    assert refused(c.by_code(code, password="short")) == (400, 1134)
    answered(c.by_code(code, password="Amber-window-44"))


def test_earlier_passwords_are_remembered(customer: Make) -> None:
    c = customer(password_policy={"history": 2})
    answered(c.reset(resettoken=c.issued_token(), password=NEW))
    assert refused(c.reset(resettoken=c.issued_token(), password=OLD)) == (403, 1015)
    answered(c.reset(resettoken=c.issued_token(), password="Amber-window-44"))
    answered(c.reset(resettoken=c.issued_token(), password=OLD))


def test_a_newer_mail_ends_the_older(customer: Make) -> None:
    c = customer()
    older = c.mail()
    newer = c.mail()
    assert refused(c.reset(resettoken=token_in(older), password=NEW)) == (403, 975)
    assert refused(c.by_code(code_in(older)))[1] in (1185, 1188)
    answered(c.reset(resettoken=token_in(newer), password=NEW))


def test_a_token_ends_what_failures_locked(customer: Make) -> None:
    c = customer(lockout={"type": "suspend", "maximum_failed_attempts": 2})
    token = c.token()
    c.guesses(2)
    assert refused(c.logs_in()) == (403, 1198)
    answered(c.reset(resettoken=token, password=NEW))
    answered(c.logs_in(NEW))


def test_wrong_codes_count_towards_the_lock_of_the_sign_in(customer: Make) -> None:
    c = customer(lockout={"type": "suspend", "maximum_failed_attempts": 3})
    right = c.code()
    for _ in range(3):
        c.by_code("000000" if right != "000000" else "111111")
    assert refused(c.logs_in()) == (403, 1198)
    assert refused(c.by_code(right)) == (403, 1198)


def test_a_token_of_another_tenant_is_unknown(customer: Make) -> None:
    c, other = customer(), customer()
    assert refused(other.reset(resettoken=c.token(), password=NEW)) == (403, 1063)


def test_hidden_accounts_look_alike(customer: Make) -> None:
    c = customer(hide_unknown_accounts=True)
    stranger = Customer(c.tenant, "", "nobody@example.test", "nobody")
    assert answered(c.forgot()) == answered(stranger.forgot())
    for _ in range(7):
        known, unknown = c.by_code("00000x"), stranger.by_code("00000x")
        if refused(known)[1] != 1198:
            assert (known.status_code, known.get_json()) == (unknown.status_code, unknown.get_json())
    assert stranger.mails() == []


def test_who_resets_by_mail_holds_the_address(customer: Make) -> None:
    c = customer()
    c.tenant.update(c.uid, {"EmailVerified": False})
    answered(c.reset(resettoken=c.token(), password=NEW))
    assert c.tenant.read(c.uid)["EmailVerified"] is True


# Races.


def at_once(act: Callable[[], TestResponse], times: int = 50) -> Counter[int]:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: act(), range(times)))
    return Counter(answer.status_code for answer in answers)


def test_of_many_uses_of_one_link_one_wins(customer: Make) -> None:
    c = customer()
    token = c.token()
    passwords = iter([f"Racing-tortoise-{number}" for number in range(100, 200)])
    counted = at_once(lambda: c.reset(resettoken=token, password=next(passwords)))
    print(dict(counted))
    assert counted == {200: 1, 403: 49}


def test_of_many_uses_of_one_code_one_wins(customer: Make) -> None:
    c = customer()
    code = c.code()
    passwords = iter([f"Racing-tortoise-{number}" for number in range(100, 200)])
    counted = at_once(lambda: c.by_code(code, password=next(passwords)))
    print(dict(counted))
    assert counted == {200: 1, 403: 49}


# By SMS, and by answers.


def test_a_texted_code_sets_a_password(customer: Make) -> None:
    c = customer(phone_login=True)
    sent = answered(c.ask("POST", {"phone": c.phone}, path=BY_SMS))
    assert set(sent["Data"]) == {"AccountSid", "Sid"}
    answered(c.ask("PUT", {"phone": c.phone, "otp": c.texted(), "password": NEW}, path=BY_SMS))
    answered(c.logs_in(NEW))


SMS_REFUSED: list[tuple[dict[str, Any], dict[str, Any], int]] = [
    ({"phone_login": False}, {}, 1074),
    ({}, {"phone": ""}, 1076),
    ({}, {"phone": "none"}, 1043),
    ({}, {"phone": "+4930999999999"}, 938),
    ({"captcha_at": ["forgot_password"]}, {}, 982),
]


@pytest.mark.parametrize(("settings", "body", "code"), SMS_REFUSED)
def test_a_text_message_is_refused(customer: Make, settings: dict[str, Any], body: dict[str, Any], code: int) -> None:
    c = customer(**{"phone_login": True, **settings})
    assert refused(c.ask("POST", {"phone": c.phone, **body}, path=BY_SMS))[1] == code


def test_an_unverified_phone_gets_nothing(customer: Make) -> None:
    c = customer(phone_login=True)
    c.tenant.update(c.uid, {"PhoneIdVerified": False})
    assert refused(c.ask("POST", {"phone": c.phone}, path=BY_SMS)) == (403, 1066)


def test_a_texted_code_is_refused_as_codes_are(customer: Make) -> None:
    c = customer(phone_login=True)
    body = {"phone": c.phone, "otp": "12345x", "password": NEW}
    assert refused(c.ask("PUT", body, path=BY_SMS)) == (403, 1067)
    answered(c.ask("POST", {"phone": c.phone}, path=BY_SMS))
    code = c.texted()
    c.tenant.services.clock.advance(minutes=6)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert refused(c.ask("PUT", {**body, "otp": code}, path=BY_SMS)) == (403, 1069)
    assert refused(c.by_code(code))[1] == 1185, "a texted code is no mailed one"


def test_answers_set_a_password_within_a_limit_of_their_own(customer: Make) -> None:
    c = customer(security_questions=QUESTIONS)
    body = {"email": c.email, "password": NEW, "securityanswer": {"pet": "red fox"}}
    assert refused(c.ask("PUT", body, path=BY_ANSWER)) == (403, 1093)
    assert refused(c.ask("PUT", {**body, "securityanswer": {"car": "x"}}, path=BY_ANSWER)) == (403, 1091)
    answered(c.ask("PUT", {**body, "securityanswer": {"pet": " grey OWL"}}, path=BY_ANSWER))
    answered(c.logs_in(NEW))
    assert c.ask("PUT", {**body, "securityanswer": {"pet": "grey owl"}}, path=BY_ANSWER).status_code == 429


@pytest.mark.parametrize("by", ["link", "code"])
def test_a_reset_by_mail_ends_answers_whoever_wrote_them(customer: Make, by: str) -> None:
    """A thief who had a token only, or the password too, wrote their own before the owner reset it."""
    c = customer(security_questions=QUESTIONS)
    bearer = str(c.tenant.tokens(c.uid)["access_token"])
    answered(c.tenant.send("PUT", "/identity/v2/auth/account", {"SecurityQuestionAnswer": {"pet": "x"}}, bearer=bearer))
    c.tenant.update(c.uid, {"Password": "Thief-kettle-91"})
    answered(c.by_code(c.code()) if by == "code" else c.reset(resettoken=c.token(), password=NEW))
    body = {"email": c.email, "password": "Thief-kettle-92", "securityanswer": {"pet": "x"}}
    assert refused(c.ask("PUT", body, path=BY_ANSWER)) == (403, 1092)
    answered(c.logs_in(NEW))


def test_a_wrong_answer_does_not_lock_the_sign_in(customer: Make) -> None:
    c = customer(security_questions=QUESTIONS, lockout={"maximum_failed_attempts": 2})
    body = {"email": c.email, "password": NEW, "securityanswer": {"pet": "red fox"}}
    for _ in range(3):
        c.ask("PUT", body, path=BY_ANSWER)
    answered(c.logs_in())


def test_answers_are_refused_where_there_are_none(customer: Make) -> None:
    c = customer()
    body = {"email": c.email, "password": NEW, "securityanswer": {"pet": "x"}}
    assert refused(c.ask("PUT", body, path=BY_ANSWER)) == (403, 1095)
    c = customer(security_questions=QUESTIONS)
    c.set_columns(private={})
    assert refused(c.ask("PUT", {**body, "email": c.email}, path=BY_ANSWER)) == (403, 1092)
    assert refused(c.ask("PUT", {**body, "email": "nobody@example.test"}, path=BY_ANSWER)) == (403, 938)


def test_questions_are_listed_by_every_name(customer: Make) -> None:
    c = customer(security_questions=QUESTIONS, phone_login=True)
    listed = [{"QuestionId": "pet", "Question": "Your first pet?"}]
    for kind in ("email", "username", "phone"):
        answer = c.ask("GET", path=f"{ASKED}/{kind}", **{kind: getattr(c, kind)})
        assert answer.get_json() == listed
    bearer = c.tenant.tokens(c.uid)["access_token"]
    assert c.tenant.send("GET", f"{ASKED}/accesstoken", bearer=bearer).get_json() == listed


def test_questions_are_refused(customer: Make) -> None:
    c = customer(security_questions=QUESTIONS)
    assert refused(c.ask("GET", path=f"{ASKED}/email", email="nobody@example.test")) == (403, 938)
    assert refused(c.ask("GET", path=f"{ASKED}/email", email="no address")) == (400, 1038)
    c.set_columns(private={})
    assert refused(c.ask("GET", path=f"{ASKED}/username", username=c.username)) == (403, 1092)
    off = customer()
    assert refused(off.ask("GET", path=f"{ASKED}/email", email=off.email)) == (403, 1095)
    names = customer(security_questions=QUESTIONS, email_login=False)
    assert refused(names.ask("GET", path=f"{ASKED}/email", email=names.email)) == (403, 1184)
    assert refused(names.ask("GET", path=f"{ASKED}/phone", phone=names.phone)) == (403, 1184)


# Changed by who knows it, and by the tenant's servers.


def test_a_change_keeps_the_own_token_and_ends_all_others(customer: Make) -> None:
    c = customer()
    mine, other = answered(c.logs_in()), answered(c.logs_in())
    answered(change(c, mine["access_token"]))
    answered(c.tenant.send("GET", "/identity/v2/auth/account", bearer=mine["access_token"]))
    assert refused(c.tenant.send("GET", "/identity/v2/auth/account", bearer=other["access_token"])) == (401, 1409)
    assert any("/not-me?" in str(one) for one in c.mails()), "the owner is told, with a way to take it back"


CHANGE_REFUSED: list[tuple[str, str, tuple[int, int]]] = [
    ("wrong", NEW, (401, 967)),
    (OLD, OLD, (403, 1015)),
    (OLD, "short", (403, 1134)),
    (OLD, "Password-1234", (403, 1216)),
]


@pytest.mark.parametrize(("old", "new", "expected"), CHANGE_REFUSED)
def test_a_change_is_refused(customer: Make, old: str, new: str, expected: tuple[int, int]) -> None:
    c = customer()
    assert refused(change(c, answered(c.logs_in())["access_token"], old, new)) == expected


def test_a_stolen_token_is_no_way_to_guess(customer: Make) -> None:
    c = customer(lockout={"type": "captcha", "maximum_failed_attempts": 3})
    bearer = answered(c.logs_in())["access_token"]
    for _ in range(3):
        change(c, bearer, "wrong")
    assert refused(change(c, bearer)) == (403, 1132)
    assert refused(c.logs_in()) == (403, 1132)


def test_a_closed_account_changes_nothing(customer: Make) -> None:
    c = customer()
    bearer = answered(c.logs_in())["access_token"]
    c.set_columns(is_active=False)
    assert refused(change(c, bearer)) == (403, 991)


def test_the_tenant_s_servers_set_and_read_it(customer: Make) -> None:
    c = customer()
    held = answered(c.logs_in())["access_token"]
    path = f"{MANAGE}/{c.uid}/password"
    made = answered(c.tenant.send("PUT", path, {"password": NEW}))
    assert made == answered(c.tenant.send("GET", path))
    assert made["PasswordHash"].startswith("$argon2id$")
    assert refused(c.tenant.send("PUT", path, {"x": "y"})) == (400, 908)
    assert refused(c.tenant.send("PUT", f"{MANAGE}/{'0' * 32}/password", {"password": NEW})) == (403, 984)
    assert refused(c.tenant.send("GET", "/identity/v2/auth/account", bearer=held)) == (401, 1409)
    answered(c.logs_in(NEW))


def test_the_tenant_s_servers_make_a_token(customer: Make) -> None:
    c = customer()
    made = answered(c.tenant.send("POST", f"{MANAGE}/forgot/token", {"email": c.email}))
    assert made["IdentityProviders"] == ["Email"]
    assert c.mails() == []
    answered(c.reset(resettoken=made["ForgotToken"], password=NEW))
    before = len(c.mails())
    answered(c.tenant.send("POST", f"{MANAGE}/forgot/token", {"username": c.username}, sendemail="true"))
    assert len(c.mails()) == before + 1
    assert refused(c.tenant.send("POST", f"{MANAGE}/forgot/token", {"x": 1})) == (400, 1141)


def test_what_is_published_follows_the_settings(customer: Make) -> None:
    c = customer(login_on_password_reset=True, captcha_at=["forgot_password"])
    published = answered(c.ask("GET", path="/ciam/appinfo"))
    published = published.get("Data", published)
    assert published["LoginOnPasswordReset"] is True
    assert published["OptionalRecaptchaConfiguration"]["Apis"]["PostForgotPasswordByEmail"] is True
    assert published["OptionalRecaptchaConfiguration"]["Apis"]["PutChangePassword"] is False
    assert published["TemplateVerificationTypes"]["ForgotPassword"] == "OTP"


def test_limits_hold_for_an_address(customer: Make) -> None:
    c = customer(limits={**UNLIMITED, "forgot_per_minute_per_address": 2})
    answered(c.forgot())
    answered(c.forgot())
    over = c.forgot()
    assert over.status_code == 429
    assert int(over.headers["Retry-After"]) > 0
