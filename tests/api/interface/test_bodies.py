"""Refused request bodies: an empty body, a missing member, a form where only JSON is accepted.

Each case holds the request and the expected status, code and description.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

from app.contract.auth import AuthScheme
from app.contract.catalogue import CATALOGUE
from app.contract.shared_parameters import CaptchaSolution, LockAnswers
from app.kit.operations.wire import From, shape_of
from tests.support.credentials.factors import SecondFactorHolder, second_factor_holder
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.operations.asking import UNLIMITED, WRITES, Caller, refusal
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)
JSON, FORM = "application/json", "application/x-www-form-urlencoded"
_AUTH, _MANAGE = "/identity/v2/auth", "/identity/v2/manage/account"
PUSH, DUO = "/v2/manage/2fa/push-notification-settings", "/v2/manage/2fa/duo-authenticator-settings"
ON: dict[str, Any] = {
    "two_factor": "optional", "second_factors": {"sms": True, "email": True}, "pin": {"is_on": True}, "phone_login": True,
    "email_login": True, "username_login": True, "custom_objects": [{"name": "notes"}],
}  # fmt: skip


@dataclass(frozen=True)
class BodyCase:
    """A request with its credentials (K: API key, U: access token, S: API secret), its body, and the expected answer."""

    credentials: str
    method: str
    path: str
    body: str
    expected: tuple[int, int, str]  # status, code, description
    kind: str = JSON

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.body or 'nothing'}"

    def send(self, who: AccountHolder) -> TestResponse:
        headers = {"Content-Type": self.kind}
        query = {"apikey": who.tenant.api_key}
        if "U" in self.credentials:
            headers["Authorization"] = f"Bearer {who.bearer}"
        if "S" in self.credentials:
            query["apisecret"] = who.tenant.api_secret
        return Client(who.tenant.app).open(
            self.path.format(uid=who.uid), method=self.method, query_string=query, headers=headers,
            data=self.body.replace("UID", who.uid),
            base_url=f"http://{who.tenant.services.settings.api_hostname}",
        )  # fmt: skip


def error_of(answer: TestResponse) -> tuple[int, int, str]:
    return (*refused(answer), answer.get_json()["Description"])


EMPTY_BODY = "The body is empty."
EMPTY_BODIES = [
    BodyCase("K", "POST", f"{_AUTH}/password", "", (400, 965, EMPTY_BODY)),
    BodyCase("K", "POST", f"{_AUTH}/password", " \r\n", (400, 965, EMPTY_BODY)),
    BodyCase("K", "PUT", f"{_AUTH}/password", "", (400, 965, EMPTY_BODY)),
    BodyCase("K", "POST", f"{_AUTH}/register", "", (400, 965, EMPTY_BODY)),
    BodyCase("K", "POST", f"{_AUTH}/pin/forgot/otp", "", (400, 965, EMPTY_BODY)),
    BodyCase("K+U", "PUT", f"{_AUTH}/account", "", (400, 1079, EMPTY_BODY)),
    BodyCase("K+U", "PUT", f"{_AUTH}/account/2fa/sms", "", (400, 1079, EMPTY_BODY)),
    BodyCase("K+U", "PUT", f"{_AUTH}/pin/change", "", (400, 1079, EMPTY_BODY)),
    BodyCase("K+U", "POST", f"{_AUTH}/pin/change", "", (400, 965, EMPTY_BODY)),
    BodyCase("K+U", "DELETE", f"{_AUTH}/email", "", (400, 1084, EMPTY_BODY)),
    BodyCase("K+U", "DELETE", f"{_AUTH}/socialidentity", "", (400, 1084, EMPTY_BODY)),
    BodyCase("K+S", "POST", _MANAGE, "", (400, 965, EMPTY_BODY)),
    BodyCase("K+S", "PUT", f"{_MANAGE}/{{uid}}", "", (400, 1079, EMPTY_BODY)),
    BodyCase("K+S", "PUT", f"{_MANAGE}/{{uid}}/password", "", (400, 1079, EMPTY_BODY)),
]
"""A required body is missing."""

PARAMETER_REQUIRED = "The {} is a required parameter."
MISSING_MEMBERS = [
    BodyCase("K+U", "PUT", f"{_AUTH}/account/2fa/sms", "{}", (400, 908, PARAMETER_REQUIRED.format("otp"))),
    BodyCase("K+U", "PUT", f"{_AUTH}/account/2fa/email", '{"emailid": "a@example.test"}', (400, 908, PARAMETER_REQUIRED.format("otp"))),
    BodyCase(
        "K+U", "PUT", f"{_AUTH}/account/reauth/2fa/otp/email/verify", '{"emailid": "a@example.test"}',
        (400, 908, PARAMETER_REQUIRED.format("otp")),
    ),
    BodyCase(
        "K+U", "PUT", f"{_AUTH}/account/reauth/2fa/otp/email/verify", '{"otp": "123456"}',
        (400, 908, PARAMETER_REQUIRED.format("emailid")),
    ),
    BodyCase("K+S", "POST", f"{_MANAGE}/{{uid}}/reauth/pin", "{}", (400, 908, PARAMETER_REQUIRED.format("secondfactorvalidationtoken"))),
    BodyCase("K+S", "POST", f"{_MANAGE}/emailtoken/addemail", "{}", (400, 908, PARAMETER_REQUIRED.format("uid"))),
    BodyCase("K+S", "POST", f"{_MANAGE}/smsotp/addphone", "{}", (400, 908, PARAMETER_REQUIRED.format("uid"))),
    BodyCase("K+S", "POST", f"{_MANAGE}/smsotp/addphone", '{"uid": "UID"}', (400, 1076, "Send the phone number.")),
    BodyCase("K+S", "PUT", f"{_MANAGE}/{{uid}}/password", "{}", (400, 908, PARAMETER_REQUIRED.format("password"))),
    BodyCase("K", "POST", f"{_AUTH}/password", "{}", (400, 1141, "Send email or username.")),  # this operation has its own code
]  # fmt: skip
"""A JSON body without a required member."""

JSON_ONLY = f"Send the body as {JSON}."
JSON_OPERATIONS = [
    ("K", "POST", f"{_AUTH}/password"),
    ("K", "PUT", f"{_AUTH}/password"),
    ("K+U", "PUT", f"{_AUTH}/account/reauth/2fa/otp/email/verify"),
    ("K+U", "PUT", f"{_AUTH}/account/2fa/sms"),
    ("K", "POST", f"{_AUTH}/pin/forgot/otp"),
    ("K", "POST", f"{_AUTH}/pin/forgot/username"),
    ("K", "PUT", f"{_AUTH}/pin/reset/otp/phone"),
    ("K+S", "POST", f"{_MANAGE}/{{uid}}/reauth/pin"),
    ("K+S", "DELETE", f"{_MANAGE}/2fa/passkey"),
    ("K+U", "DELETE", f"{_AUTH}/account/passkey/x"),
    ("K+S", "DELETE", f"{_MANAGE}/{{uid}}/customobject/x"),
]
"""Writing operations with an API key that accept JSON only; those with a machine token are tested below."""
FORMS = [
    BodyCase(credentials, method, path, "otp=123456&phone=%2B4915112345678", (400, 1083, JSON_ONLY), FORM)
    for credentials, method, path in JSON_OPERATIONS
]


@pytest.mark.parametrize("case", [*EMPTY_BODIES, *MISSING_MEMBERS, *FORMS], ids=str)
def test_body_that_breaks_the_contract_is_refused(new_tenant_server: NewTenantServer, case: BodyCase) -> None:
    assert error_of(case.send(account_holder(new_tenant_server, **ON))) == case.expected


@pytest.mark.parametrize("number", ["NaN", "1e400", "[-1.5E+999]", f"{'9' * 400}.5"])
def test_number_that_json_lacks_is_refused(new_tenant_server: NewTenantServer, number: str) -> None:
    text = f'{{"FirstName": "1e400", "Other": {number}}}'
    expected = (400, 1079, "The body is missing or isn’t valid JSON.")
    case = BodyCase("K+U", "PUT", f"{_AUTH}/account", text, expected)
    who = account_holder(new_tenant_server, **ON)
    assert error_of(case.send(who)) == expected
    sendable = BodyCase("K+U", "PUT", f"{_AUTH}/account", text.replace(number, "1e300"), expected)
    assert sendable.send(who).get_json().get("ErrorCode") != 1079


def test_older_operation_accepts_form_body(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **ON)
    text = BodyCase("K", "POST", f"{_AUTH}/password/otp", "email=", (400, 1083, ""), "text/plain")
    assert error_of(text.send(who)) == (400, 1083, f"Send the body as {JSON} or {FORM}.")
    form = BodyCase("K", "POST", f"{_AUTH}/pin/forgot/email", "email=a%40example.test", (0, 0, ""), FORM)
    assert refused(form.send(who)) == (403, 938)


def test_empty_body_leaves_settings_unchanged(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server()
    token = machine(acme, "security:read", "security:create", "security:update")
    settings = {
        "NotificationService": "AWS SNS",
        "CustomAppName": "Acme Keys",
        "AWSsettings": {"Region": "eu-central-1"},
    }
    created = answered(ask(acme, token, "POST", PUSH, settings))
    for method, code in (("POST", 7914), ("PUT", 7934)):
        assert error_of(ask(acme, token, method, PUSH)) == (400, code, EMPTY_BODY)
        assert error_of(ask(acme, token, method, PUSH, {})) == (400, 7900, "The body contains no setting.")
        unknown = "Unknown: this operation has no such member."
        assert error_of(ask(acme, token, method, PUSH, {"Unknown": 1})) == (400, 7900, unknown)
    assert answered(ask(acme, token, "GET", PUSH)) == created
    assert error_of(ask(acme, token, "PUT", DUO)) == (400, 7934, EMPTY_BODY)
    assert error_of(ask(acme, token, "PUT", DUO, {})) == (400, 7900, "The body contains no setting.")


def test_settings_in_form_body_are_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server()
    token = machine(acme, "security:create")
    sent = {"data": "IsEnabled=true", "headers": {"Authorization": f"Bearer {token}", "Content-Type": FORM}}
    answer = Client(acme.app).post(PUSH, base_url=f"http://{acme.services.settings.api_hostname}", **sent)
    assert error_of(answer) == (400, 1083, JSON_ONLY)


def test_missing_code_of_emailed_challenge_is_named(new_tenant_server: NewTenantServer) -> None:
    ada: SecondFactorHolder = second_factor_holder(new_tenant_server, two_factor="required")
    assert error_of(ada.answer_challenge("email", {"emailid": ada.email}, ada.token())) == (
        400,
        908,
        PARAMETER_REQUIRED.format("otp"),
    )


# Over the whole catalogue.

WRONG = {966, 967, 1067, 1093, 1094, 1102, 1129, 1185, 1188, 1205, 1236, 1241}
"""The error codes of wrong credentials."""
VALUES = {
    "email": "a@example.test", "emailid": "a@example.test", "phone": "+4915112345678", "password": "Zebra-kettle-91",
    "otp": "123456", "pin": "270486", "username": "ada",
}  # fmt: skip
_SHARED = set(CaptchaSolution.model_fields) | set(LockAnswers.model_fields)
IDENTIFIERS = {"email", "emailid", "phone", "username", "uuid"}


def test_missing_credential_is_never_reported_as_wrong(caller: Caller) -> None:
    checked = 0
    for operation in CATALOGUE:
        places = shape_of(operation.request).places[From.BODY]
        names = [wire for name, wire in places.items() if name not in _SHARED]
        if (
            not operation.documentation.is_public
            or operation.method not in WRITES
            or AuthScheme.CLIENT in operation.admission.auth.schemes()
        ):
            continue
        for absent in names[:8]:
            if absent.lower() in IDENTIFIERS:
                continue  # another identifier may replace it
            body = {name: VALUES.get(name.lower(), "x") for name in names[:8] if name != absent}
            answer = caller.renew().ask(operation, body=json.dumps(body).encode())
            if absent.lower() in ("otp", "pin", "password", "code", "backupcode", "securityanswer"):
                assert refusal(answer)[1] not in WRONG, (operation.name, absent, answer.text)
                checked += 1
    assert checked > 20


@pytest.fixture
def caller(new_tenant_server: NewTenantServer, identity_app: Any) -> Caller:
    on = {**UNLIMITED, **ON, "passwordless_email": True, "passwordless_sms": True, "one_touch": True}
    return Caller(new_tenant_server(**on), identity_app)


def test_missing_password_in_management_call_is_named(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    refusal = who.managed("A16", {}).get_json()
    assert (refusal["ErrorCode"], refusal["Message"]) == (908, "Password is required")
