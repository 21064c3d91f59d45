"""Where the tenant hides who has an account, every operation that takes a name without a token answers all names alike.

An operation that takes a name must stand in the table: `test_every_operation_that_takes_a_name_is_asked` finds the missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.auth import AuthScheme
from app.contract.operations import CATALOGUE, load_catalogue
from app.kit.operation import AnyOperation
from tests.support.account_states import PASSWORD, UNKNOWN, WRONG, Subject, Summary, unknown_and_known
from tests.support.captchas import worked
from tests.support.registering import primary
from tests.support.smart_login_scripts import AUTH, Script, approves, asks_a_mailbox, touches
from tests.support.sotts import sott_of
from tests.support.tenant_server import NewTenantServer

load_catalogue()
NAMES = {"email", "email_id", "username", "user_name", "phone", "phone_id", "identifier"}
TELLING = {
    "passkeys.begin_sign_in": "everybody seems to have passkeys, and each name others: tests/api/test_passkeys.py",
    "second_factors.mail_code": "it takes the token of a challenge, and the account is that one's",
    "second_factors.with_email": "as above",
    "phones.send_code": "tests/api/test_phones.py: who hides accounts answers for every number",
    "phones.verify": "as above",
}
ON_PAGES = {
    "hub.sign_in": "tests/pages/test_account_enumeration.py",
    "hub.forgot": "as above",
    "hub.reset_pin_by_answers": "as above",
    "hub.register": "as above",
    "hub.ask_sign_in": "as above",
    "hub.lost_passkey": "as above",
    "hub.begin_register_with_passkey": "as above",
}


def signs_in(name: str, path: str = "login") -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(7):
            yield who.ask("POST", f"{AUTH}/{path}", {name: who.names[name], "password": WRONG})

    return script


def has_a_factor_mailed(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/account/2fa/email", emailid=who.email)


def resends(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("PUT", f"{AUTH}/register", {"email": who.email})


def verifies(who: Subject) -> Iterator[TestResponse]:
    for _ in range(3):
        yield who.ask("PUT", f"{AUTH}/email", {"email": who.email, "otp": "000000"})
    sent = who.ask("PUT", f"{AUTH}/register", {"email": who.email})
    yield sent
    for _ in range(4):
        yield who.ask("PUT", f"{AUTH}/email", {"email": who.email, "otp": "000000"})
    yield from then_signs_in(who, "email")


def verifies_by_id(who: Subject) -> Iterator[TestResponse]:
    sent = who.ask("PUT", f"{AUTH}/register", {"email": who.email})
    for _ in range(7):
        yield who.ask("PUT", f"{AUTH}/email", {"uuid": sent.get_json()["UUID"], "otp": "000000"})
    yield from then_signs_in(who, "email")


def verifies_by_get(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/email", email=who.email, otp="000000")


def forgets(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(5):
            yield who.ask("POST", f"{AUTH}/password", {name: who.names[name]})

    return script


def resets(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "otp": "000000", "password": PASSWORD}
        yield who.ask("PUT", f"{AUTH}/password", body)
        yield who.ask("POST", f"{AUTH}/password", {name: who.names[name]})
        for _ in range(6):
            yield who.ask("PUT", f"{AUTH}/password", body)
        yield from then_signs_in(who, name)

    return script


def forgets_by_sms(who: Subject) -> Iterator[TestResponse]:
    for _ in range(12):
        yield who.ask("POST", f"{AUTH}/password/otp", {"phone": who.phone})


def resets_by_sms(who: Subject) -> Iterator[TestResponse]:
    body = {"phone": who.phone, "otp": "000000", "password": PASSWORD}
    yield who.ask("PUT", f"{AUTH}/password/otp", body)
    yield who.ask("POST", f"{AUTH}/password/otp", {"phone": who.phone})
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/password/otp", body)
    yield from then_signs_in(who, "phone")


def answers(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "password": PASSWORD}
        yield who.ask("PUT", f"{AUTH}/password/securityanswer", {**body, "securityanswer": {"pet": "no", "city": "no"}})
        for _ in range(4):
            yield who.ask("PUT", f"{AUTH}/password/securityanswer", {**body, "securityanswer": {"pet": "no"}})

    return script


def forgets_pin(name: str, path: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(7):
            yield who.ask("POST", f"{AUTH}/pin/forgot/{path}", {name: who.names[name]})

    return script


def resets_pin(name: str) -> Script:
    """In between it is asked for, so that those who have one have a code as well."""

    def script(who: Subject) -> Iterator[TestResponse]:
        body, path = {name: who.names[name], "otp": "000000", "pin": "905142"}, f"{AUTH}/pin/reset/otp/{name}"
        yield who.ask("PUT", path, body)
        yield who.ask("POST", f"{AUTH}/pin/forgot/{'otp' if name == 'phone' else name}", {name: who.names[name]})
        for _ in range(6):
            yield who.ask("PUT", path, body)
        yield from then_signs_in(who, name)

    return script


def answers_for_pin(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body, path = {name: who.names[name], "pin": "905142"}, f"{AUTH}/pin/reset/securityanswer/{name}"
        yield who.ask("PUT", path, {**body, "securityanswer": {"pet": "no", "city": "no"}})
        for _ in range(4):
            yield who.ask("PUT", path, {**body, "securityanswer": {"pet": "no"}})

    return script


def questions(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        first, second = (who.ask("GET", f"{AUTH}/securityquestion/{name}", **{name: who.names[name]}) for _ in range(2))
        assert first.text == second.text
        yield first

    return script


def registers(who: Subject) -> Iterator[TestResponse]:
    """With the address alone: a username or a number that is taken is said, for somebody must choose another."""
    body = {"Email": primary(who.email), "Password": WRONG}
    for _ in range(2):
        yield who.ask("POST", f"{AUTH}/register", body, sott=sott_of(who.tenant))
    yield from then_signs_in(who, "email")


def registers_with_captcha(who: Subject) -> Iterator[TestResponse]:
    body = {"Email": primary(who.email), "Password": WRONG}
    refused = who.ask("POST", f"{AUTH}/register/captcha", body)
    yield refused
    asked = refused.get_json()["Data"]["Captcha"]
    shown = {"captcha_challenge": asked["Token"], "captcha_work": worked(asked["WorkSeed"], asked["WorkBits"])}
    yield who.ask("POST", f"{AUTH}/register/captcha", {**body, **shown})


def signs_in_by_mail(name: str) -> Script:
    path = f"{AUTH}/login/passwordlesslogin/{name}/verifyotp"

    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "otp": "000000"}
        yield who.ask("POST", path, body)
        yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/email", **{name: who.names[name]})
        for _ in range(6):
            yield who.ask("POST", path, body)
        yield from then_signs_in(who, name)

    return script


def asks_for_mail(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(6):
            yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/email", **{name: who.names[name]})

    return script


def asks_for_a_text(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/otp", phone=who.phone)


def signs_in_by_text(who: Subject) -> Iterator[TestResponse]:
    body = {"phone": who.phone, "otp": "000000"}
    yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/otp", phone=who.phone)
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/login/passwordlesslogin/otp/verify", body)
    yield from then_signs_in(who, "phone")


def looks_up(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        answer = who.ask("GET", f"{AUTH}/{name}", **{name: who.names[name]})
        assert answer.get_json() == {"IsExist": False}
        yield answer

    return script


def guesses_at_one_touch(who: Subject) -> Iterator[TestResponse]:
    yield from touches("phone", "phone")(who)
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/onetouchlogin/phone/verify", {"phone": who.phone}, otp="000000")
    yield from then_signs_in(who, "phone")


def begins_with_a_passkey(who: Subject) -> Iterator[TestResponse]:
    for _ in range(4):
        yield who.ask("GET", f"{AUTH}/register/passkey/begin", identifier=who.email)


def loses_a_passkey(who: Subject) -> Iterator[TestResponse]:
    for _ in range(4):
        yield who.ask("POST", f"{AUTH}/passkey/forgot", {"email": who.email})


def signs_up_with_a_passkey_of_nobody(who: Subject) -> Iterator[TestResponse]:
    response = {"attestationObject": "AAAA", "clientDataJSON": "AAAA"}
    shown = {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": response}
    body = {"Email": primary(who.email), "PasskeyCredential": shown}
    for _ in range(3):
        yield who.ask("POST", f"{AUTH}/register/passkey/finish", body)


def then_signs_in(who: Subject, name: str) -> Iterator[TestResponse]:
    """A name that was tried elsewhere is tried at the sign-in: there a lock would show."""
    yield who.ask("POST", f"{AUTH}/login", {name: who.names[name], "password": WRONG})


ASKED: dict[str, dict[str, Script]] = {
    "sign_in.with_password": {name: signs_in(name) for name in ("email", "username", "phone")},
    "second_factors.with_password": {name: signs_in(name, "login/2fa") for name in ("email", "username", "phone")},
    "second_factors.mail_own_code": {"email": has_a_factor_mailed},
    "passkeys.begin_sign_up": {"email": begins_with_a_passkey},
    "passkeys.finish_sign_up": {"email": signs_up_with_a_passkey_of_nobody},
    "passkeys.forgot": {"email": loses_a_passkey},
    **{f"verification.{name}_availability": {name: looks_up(name)} for name in ("email", "phone", "username")},
    "verification.resend": {"email": resends},
    "verification.by_code": {"email": verifies, "uuid": verifies_by_id},
    "verification.by_link": {"email": verifies_by_get},
    "passwords.forgot": {name: forgets(name) for name in ("email", "username")},
    "passwords.reset": {name: resets(name) for name in ("email", "username")},
    "passwords.forgot_by_sms": {"phone": forgets_by_sms},
    "passwords.reset_by_sms": {"phone": resets_by_sms},
    "passwords.reset_by_answer": {name: answers(name) for name in ("email", "username", "phone")},
    "passwords.questions_by_email": {"email": questions("email")},
    "passwords.questions_by_username": {"username": questions("username")},
    "passwords.questions_by_phone": {"phone": questions("phone")},
    "pins.forgot_by_email": {"email": forgets_pin("email", "email")},
    "pins.forgot_by_username": {"username": forgets_pin("username", "username")},
    "pins.forgot_by_sms": {"phone": forgets_pin("phone", "otp")},
    "pins.reset_by_code": {name: resets_pin(name) for name in ("email", "username", "phone")},
    **{f"pins.reset_by_answer_and_{name}": {name: answers_for_pin(name)} for name in ("email", "username", "phone")},
    "passwordless.send_mail": {name: asks_for_mail(name) for name in ("email", "username")},
    "passwordless.by_email_code": {"email": signs_in_by_mail("email")},
    "passwordless.by_username_code": {"username": signs_in_by_mail("username")},
    "passwordless.send_sms": {"phone": asks_for_a_text},
    "passwordless.by_sms_code": {"phone": signs_in_by_text},
    "smart_login.start": {name: asks_a_mailbox(name) for name in ("email", "username", "phone")},
    "smart_login.approve": {name: approves("smartlogin", name) for name in ("email", "phone")},
    "smart_login.touch_mail": {"email": touches("email", "email")},
    "smart_login.touch_sms": {"phone": touches("phone", "phone")},
    "smart_login.touch_code": {"phone": guesses_at_one_touch},
    "smart_login.touch_link": {"email": approves("onetouchlogin", "email")},
    "registration.register": {"email": registers},
    "registration.register_with_captcha": {"email": registers_with_captcha},
}
LOCKS = ("suspend", "captcha", "security_question", "block", "none")
LOCKING = (
    "verification.by_code",
    "passwords.reset",
    "passwords.reset_by_sms",
)  # beside the sign-in, whose tests ask every lock


def _also(name: str) -> dict[str, Any]:
    """What the tenant of an operation has beside."""
    if name.startswith("passkeys."):
        return {"passkeys": True}
    if name.startswith("second_factors."):
        return {"two_factor": "optional"}
    return {"pin": {"is_on": True}} if name.startswith("pins.") else {}


ROWS = [
    pytest.param(script, by, {"lockout": {"type": lock}, **_also(name)}, id=f"{name} {by} {lock}")
    for name, rows in ASKED.items()
    for by, script in rows.items()
    for lock in (LOCKS if name in LOCKING else LOCKS[:1])
]


def takes_a_name(operation: AnyOperation) -> bool:
    """Whether whoever knows the tenant's public key alone, or sits at a page, may name somebody."""
    callers = operation.admission.auth.schemes()
    needs_token = AuthScheme.ACCESS_TOKEN in callers and not any(
        AuthScheme.ACCESS_TOKEN not in way for way in operation.admission.auth.alternatives
    )
    if needs_token or callers & {AuthScheme.API_SECRET, AuthScheme.MACHINE_TOKEN, AuthScheme.CLIENT}:
        return False
    return bool(set(operation.request.model_fields) & (NAMES | {"fields"} if AuthScheme.HUB in callers else NAMES))


def test_every_operation_that_takes_a_name_is_asked() -> None:
    own = {one.name for one in CATALOGUE if one.path.startswith("/hub/own/")}  # of somebody signed in
    found = {one.name for one in CATALOGUE if takes_a_name(one)} - own
    assert found == ASKED.keys() | TELLING.keys() | ON_PAGES.keys()


def transcript(who: Subject, script: Script) -> list[Summary]:
    return [who.taken_down(answer) for answer in script(who)]


@pytest.mark.parametrize(("script", "by", "settings"), ROWS)
def test_all_names_are_answered_alike(
    new_tenant_server: NewTenantServer, script: Script, by: str, settings: dict[str, Any]
) -> None:
    nobody, people = unknown_and_known(new_tenant_server, **settings)
    said = transcript(nobody, script)
    differing = {who.state: (said, seen) for who in people if (seen := transcript(who, script)) != said}
    assert not differing, first_difference(differing)


@pytest.mark.parametrize(("script", "by", "settings"), ROWS)
def test_all_locked_names_are_answered_alike(
    new_tenant_server: NewTenantServer, script: Script, by: str, settings: dict[str, Any]
) -> None:
    name = by if by != "uuid" else "email"
    nobody, people = unknown_and_known(new_tenant_server, **settings)
    said = transcript(nobody.locked(name), script)
    differing = {who.state: (said, seen) for who in people if (seen := transcript(who.locked(name), script)) != said}
    assert not differing, first_difference(differing)


def first_difference(differing: dict[str, tuple[list[Summary], list[Summary]]]) -> str:
    """Return where each first says something else."""
    lines = []
    for state, (said, seen) in differing.items():
        at = next((at for at, pair in enumerate(zip(said, seen, strict=True)) if pair[0] != pair[1]), -1)
        lines.append(f"{UNKNOWN} {at}: {said[at]}\n{state} {at}: {seen[at]}")
    return "\n".join(lines)
