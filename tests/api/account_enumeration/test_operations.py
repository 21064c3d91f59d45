"""Account enumeration: where the tenant hides accounts, each unauthenticated operation answers all identifiers alike.

Each operation that accepts an identifier must be in the table: `test_every_operation_with_identifier_is_covered` checks that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.auth import AuthScheme
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.kit.operations.operation import AnyOperation
from tests.support.accounts.account_states import PASSWORD, UNKNOWN, WRONG, Subject, Summary, unknown_and_known
from tests.support.accounts.registering import primary
from tests.support.accounts.smart_login_scripts import AUTH, Script, approves, asks_a_mailbox, touches
from tests.support.accounts.sotts import sott_of
from tests.support.tenants.tenant_server import NewTenantServer

load_catalogue()
IDENTIFIER_FIELDS = {"email", "email_id", "username", "user_name", "phone", "phone_id", "identifier"}
EXCEPTIONS = {
    "passkeys.begin_sign_in": "unknown identifiers get made-up passkeys: tests/api/passkeys/test_passkeys.py",
    "second_factors.mail_code": "it takes the token of a challenge, which names the account",
    "second_factors.with_email": "as above",
    "phones.send_code": "hidden accounts: tests/api/self_service/test_phone_numbers.py",
    "phones.verify": "as above",
    "jwt_sign_on.login": "it needs a JWT client: tests/api/single_sign_on/test_jwt_sign_on.py",
    "jwt_sign_on.older_login": "as above",
}
TESTED_ON_PAGES = {
    "hub.sign_in": "tests/pages/sign_in/test_account_enumeration.py",
    "hub.forgot": "as above",
    "hub.reset_pin_by_answers": "as above",
    "hub.register": "as above",
    "hub.start_passwordless_sign_in": "as above",
    "hub.lost_passkey": "as above",
    "hub.begin_register_with_passkey": "as above",
    "hub.mail_captcha_link": "tests/pages/sign_in/test_captcha_link.py",
    "hub.register_for_organization": "the provider names the address: tests/pages/organizations/connections/test_required_form.py",
    "hub.saml_login": "its fields are parameters of a message, and it reads no identifier: tests/pages/saml",
    "hub.saml_logout": "as above",
    "hub.find_connection": "it reads the domain alone: tests/pages/organizations/connections/test_home_realms.py",
}


def sign_in(name: str, path: str = "login") -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(7):
            yield who.ask("POST", f"{AUTH}/{path}", {name: who.names[name], "password": WRONG})

    return script


def mail_factor_code(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/account/2fa/email", emailid=who.email)


def resend_verification(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("PUT", f"{AUTH}/register", {"email": who.email})


def verify_by_code(who: Subject) -> Iterator[TestResponse]:
    for _ in range(3):
        yield who.ask("PUT", f"{AUTH}/email", {"email": who.email, "otp": "000000"})
    sent = who.ask("PUT", f"{AUTH}/register", {"email": who.email})
    yield sent
    for _ in range(4):
        yield who.ask("PUT", f"{AUTH}/email", {"email": who.email, "otp": "000000"})
    yield from then_sign_in(who, "email")


def verify_by_uuid(who: Subject) -> Iterator[TestResponse]:
    sent = who.ask("PUT", f"{AUTH}/register", {"email": who.email})
    for _ in range(7):
        yield who.ask("PUT", f"{AUTH}/email", {"uuid": sent.get_json()["UUID"], "otp": "000000"})
    yield from then_sign_in(who, "email")


def verify_by_get(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/email", email=who.email, otp="000000")


def forgot_password(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(5):
            yield who.ask("POST", f"{AUTH}/password", {name: who.names[name]})

    return script


def reset_password(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "otp": "000000", "password": PASSWORD}
        yield who.ask("PUT", f"{AUTH}/password", body)
        yield who.ask("POST", f"{AUTH}/password", {name: who.names[name]})
        for _ in range(6):
            yield who.ask("PUT", f"{AUTH}/password", body)
        yield from then_sign_in(who, name)

    return script


def forgot_password_by_sms(who: Subject) -> Iterator[TestResponse]:
    for _ in range(12):
        yield who.ask("POST", f"{AUTH}/password/otp", {"phone": who.phone})


def reset_password_by_sms(who: Subject) -> Iterator[TestResponse]:
    body = {"phone": who.phone, "otp": "000000", "password": PASSWORD}
    yield who.ask("PUT", f"{AUTH}/password/otp", body)
    yield who.ask("POST", f"{AUTH}/password/otp", {"phone": who.phone})
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/password/otp", body)
    yield from then_sign_in(who, "phone")


def reset_password_by_answers(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "password": PASSWORD}
        yield who.ask("PUT", f"{AUTH}/password/securityanswer", {**body, "securityanswer": {"pet": "no", "city": "no"}})
        for _ in range(4):
            yield who.ask("PUT", f"{AUTH}/password/securityanswer", {**body, "securityanswer": {"pet": "no"}})

    return script


def forgot_pin(name: str, path: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(7):
            yield who.ask("POST", f"{AUTH}/pin/forgot/{path}", {name: who.names[name]})

    return script


def reset_pin(name: str) -> Script:
    """Request a code before the guesses, so that accounts with a PIN have one."""

    def script(who: Subject) -> Iterator[TestResponse]:
        body, path = {name: who.names[name], "otp": "000000", "pin": "905142"}, f"{AUTH}/pin/reset/otp/{name}"
        yield who.ask("PUT", path, body)
        yield who.ask("POST", f"{AUTH}/pin/forgot/{'otp' if name == 'phone' else name}", {name: who.names[name]})
        for _ in range(6):
            yield who.ask("PUT", path, body)
        yield from then_sign_in(who, name)

    return script


def reset_pin_by_answers(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        body, path = {name: who.names[name], "pin": "905142"}, f"{AUTH}/pin/reset/securityanswer/{name}"
        yield who.ask("PUT", path, {**body, "securityanswer": {"pet": "no", "city": "no"}})
        for _ in range(4):
            yield who.ask("PUT", path, {**body, "securityanswer": {"pet": "no"}})

    return script


def list_questions(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        first, second = (who.ask("GET", f"{AUTH}/securityquestion/{name}", **{name: who.names[name]}) for _ in range(2))
        assert first.text == second.text
        yield first

    return script


def register(who: Subject) -> Iterator[TestResponse]:
    """Register with an email alone: a taken username or phone number is reported by design."""
    body = {"Email": primary(who.email), "Password": WRONG}
    for _ in range(2):
        yield who.ask("POST", f"{AUTH}/register", body, sott=sott_of(who.tenant))
    yield from then_sign_in(who, "email")


def register_with_captcha(who: Subject) -> Iterator[TestResponse]:
    return who.register_with_captcha({"Email": primary(who.email), "Password": WRONG})


def sign_in_by_email_code(name: str) -> Script:
    path = f"{AUTH}/login/passwordlesslogin/{name}/verifyotp"

    def script(who: Subject) -> Iterator[TestResponse]:
        body = {name: who.names[name], "otp": "000000"}
        yield who.ask("POST", path, body)
        yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/email", **{name: who.names[name]})
        for _ in range(6):
            yield who.ask("POST", path, body)
        yield from then_sign_in(who, name)

    return script


def request_sign_in_mail(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        for _ in range(6):
            yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/email", **{name: who.names[name]})

    return script


def request_sign_in_sms(who: Subject) -> Iterator[TestResponse]:
    for _ in range(7):
        yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/otp", phone=who.phone)


def sign_in_by_sms_code(who: Subject) -> Iterator[TestResponse]:
    body = {"phone": who.phone, "otp": "000000"}
    yield who.ask("GET", f"{AUTH}/login/passwordlesslogin/otp", phone=who.phone)
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/login/passwordlesslogin/otp/verify", body)
    yield from then_sign_in(who, "phone")


def check_availability(name: str) -> Script:
    def script(who: Subject) -> Iterator[TestResponse]:
        answer = who.ask("GET", f"{AUTH}/{name}", **{name: who.names[name]})
        assert answer.get_json() == {"IsExist": False}
        yield answer

    return script


def guess_one_touch_code(who: Subject) -> Iterator[TestResponse]:
    yield from touches("phone", "phone")(who)
    for _ in range(6):
        yield who.ask("PUT", f"{AUTH}/onetouchlogin/phone/verify", {"phone": who.phone}, otp="000000")
    yield from then_sign_in(who, "phone")


def begin_passkey_registration(who: Subject) -> Iterator[TestResponse]:
    for _ in range(4):
        yield who.ask("GET", f"{AUTH}/register/passkey/begin", identifier=who.email)


def forgot_passkey(who: Subject) -> Iterator[TestResponse]:
    for _ in range(4):
        yield who.ask("POST", f"{AUTH}/passkey/forgot", {"email": who.email})


def finish_registration_with_forged_passkey(who: Subject) -> Iterator[TestResponse]:
    response = {"attestationObject": "AAAA", "clientDataJSON": "AAAA"}
    shown = {"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": response}
    body = {"Email": primary(who.email), "PasskeyCredential": shown}
    for _ in range(3):
        yield who.ask("POST", f"{AUTH}/register/passkey/finish", body)


def then_sign_in(who: Subject, name: str) -> Iterator[TestResponse]:
    """Sign in with the identifier that was tried before: a lock would show here."""
    yield who.ask("POST", f"{AUTH}/login", {name: who.names[name], "password": WRONG})


SCRIPTS: dict[str, dict[str, Script]] = {
    "sign_in.with_password": {name: sign_in(name) for name in ("email", "username", "phone")},
    "second_factors.with_password": {name: sign_in(name, "login/2fa") for name in ("email", "username", "phone")},
    "second_factors.mail_own_code": {"email": mail_factor_code},
    "passkeys.begin_sign_up": {"email": begin_passkey_registration},
    "passkeys.finish_sign_up": {"email": finish_registration_with_forged_passkey},
    "passkeys.forgot": {"email": forgot_passkey},
    **{
        f"verification.{name}_availability": {name: check_availability(name)} for name in ("email", "phone", "username")
    },
    "verification.resend": {"email": resend_verification},
    "verification.by_code": {"email": verify_by_code, "uuid": verify_by_uuid},
    "verification.by_link": {"email": verify_by_get},
    "passwords.forgot": {name: forgot_password(name) for name in ("email", "username")},
    "passwords.reset": {name: reset_password(name) for name in ("email", "username")},
    "passwords.forgot_by_sms": {"phone": forgot_password_by_sms},
    "passwords.reset_by_sms": {"phone": reset_password_by_sms},
    "passwords.reset_by_answer": {name: reset_password_by_answers(name) for name in ("email", "username", "phone")},
    "passwords.questions_by_email": {"email": list_questions("email")},
    "passwords.questions_by_username": {"username": list_questions("username")},
    "passwords.questions_by_phone": {"phone": list_questions("phone")},
    "pins.forgot_by_email": {"email": forgot_pin("email", "email")},
    "pins.forgot_by_username": {"username": forgot_pin("username", "username")},
    "pins.forgot_by_sms": {"phone": forgot_pin("phone", "otp")},
    "pins.reset_by_code": {name: reset_pin(name) for name in ("email", "username", "phone")},
    **{
        f"pins.reset_by_answer_and_{name}": {name: reset_pin_by_answers(name)}
        for name in ("email", "username", "phone")
    },
    "passwordless.send_mail": {name: request_sign_in_mail(name) for name in ("email", "username")},
    "passwordless.by_email_code": {"email": sign_in_by_email_code("email")},
    "passwordless.by_username_code": {"username": sign_in_by_email_code("username")},
    "passwordless.send_sms": {"phone": request_sign_in_sms},
    "passwordless.by_sms_code": {"phone": sign_in_by_sms_code},
    "smart_login.start": {name: asks_a_mailbox(name) for name in ("email", "username", "phone")},
    "smart_login.approve": {name: approves("smartlogin", name) for name in ("email", "phone")},
    "smart_login.touch_mail": {"email": touches("email", "email")},
    "smart_login.touch_sms": {"phone": touches("phone", "phone")},
    "smart_login.touch_code": {"phone": guess_one_touch_code},
    "smart_login.touch_link": {"email": approves("onetouchlogin", "email")},
    "registration.register": {"email": register},
    "registration.register_with_captcha": {"email": register_with_captcha},
}
LOCKS = ("suspend", "captcha", "security_question", "block", "none")
LOCKING = (
    "verification.by_code",
    "passwords.reset",
    "passwords.reset_by_sms",
)  # the tests of the sign-in cover every lock


def settings_for(name: str) -> dict[str, Any]:
    """Return the settings that the operation requires."""
    if name.startswith("passkeys."):
        return {"passkeys": True}
    if name.startswith("second_factors."):
        return {"two_factor": "optional"}
    return {"pin": {"is_on": True}} if name.startswith("pins.") else {}


CASES = [
    pytest.param(
        script, identifier, {"lockout": {"type": lock}, **settings_for(name)}, id=f"{name} {identifier} {lock}"
    )
    for name, scripts in SCRIPTS.items()
    for identifier, script in scripts.items()
    for lock in (LOCKS if name in LOCKING else LOCKS[:1])
]


def takes_identifier(operation: AnyOperation) -> bool:
    """Return whether a caller with the public API key alone, or a page, may send an identifier."""
    callers = operation.admission.auth.schemes()
    needs_token = AuthScheme.ACCESS_TOKEN in callers and not any(
        AuthScheme.ACCESS_TOKEN not in schemes for schemes in operation.admission.auth.alternatives
    )
    if needs_token or callers & {AuthScheme.API_SECRET, AuthScheme.MACHINE_TOKEN, AuthScheme.CLIENT}:
        return False
    return bool(
        set(operation.request.model_fields)
        & (IDENTIFIER_FIELDS | {"fields"} if AuthScheme.HUB in callers else IDENTIFIER_FIELDS)
    )


def test_every_operation_with_identifier_is_covered() -> None:
    of_accounts = {each.name for each in CATALOGUE if each.path.startswith("/hub/own/") or each.admission.visitor}
    found = {operation.name for operation in CATALOGUE if takes_identifier(operation)} - of_accounts
    assert found == SCRIPTS.keys() | EXCEPTIONS.keys() | TESTED_ON_PAGES.keys()


def transcript(who: Subject, script: Script, most: int | None = None) -> list[Summary]:
    return [who.taken_down(answer) for answer in islice(script(who), most)]


@pytest.mark.parametrize(("script", "identifier", "settings"), CASES)
def test_all_identifiers_are_answered_alike(
    new_tenant_server: NewTenantServer, script: Script, identifier: str, settings: dict[str, Any]
) -> None:
    unknown, known = unknown_and_known(new_tenant_server, identifier, **settings)
    expected = transcript(unknown, script)
    differing = {who.state: (expected, actual) for who in known if (actual := transcript(who, script)) != expected}
    assert not differing, first_difference(differing)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(("script", "identifier", "settings"), [case for case in CASES if "none" not in str(case.id)])
def test_all_locked_identifiers_are_answered_alike(
    new_tenant_server: NewTenantServer, script: Script, identifier: str, settings: dict[str, Any]
) -> None:
    name = identifier if identifier != "uuid" else "email"
    lockout = {**settings["lockout"], "maximum_failed_attempts": 2}
    unknown, known = unknown_and_known(new_tenant_server, identifier, **{**settings, "lockout": lockout})
    answers = (unknown.taken_down(answer) for answer in script(unknown.locked(name)))
    expected = list(answers) if lockout["type"] == "suspend" else until_repeated(answers)
    differing = {
        who.state: (expected, actual)
        for who in known
        if (actual := transcript(who.locked(name), script, len(expected))) != expected
    }
    assert not differing, first_difference(differing)


def until_repeated(answers: Iterable[Summary]) -> list[Summary]:
    """Return the answers to the third in a row that is the same: one kind of lock goes through the whole script, others begin it."""
    taken: list[Summary] = []
    for answer in answers:
        taken.append(answer)
        if taken[-3:] == [answer] * 3:
            break
    return taken


def first_difference(differing: dict[str, tuple[list[Summary], list[Summary]]]) -> str:
    """Return the first step at which each account state differs from the unknown identifier."""
    lines = []
    for state, (expected, actual) in differing.items():
        at = next((at for at, pair in enumerate(zip(expected, actual, strict=True)) if pair[0] != pair[1]), -1)
        lines.append(f"{UNKNOWN} {at}: {expected[at]}\n{state} {at}: {actual[at]}")
    return "\n".join(lines)
