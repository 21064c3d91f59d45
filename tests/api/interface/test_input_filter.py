"""Markup is refused anywhere in a request; free text and passwords are accepted."""

from __future__ import annotations

import json

import pytest
from werkzeug.test import Client, TestResponse

from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

LOGIN = "/identity/v2/auth/login"
SCRIPT = "<script>alert(1)</script>"
TEXT = "If a<b & b<c then I <3 List<String>, says R&D <lab@example.com>"


def sent(tenant: TenantServer, path: str, content: bytes, kind: str, method: str = "POST") -> TestResponse:
    """Send raw bytes."""
    stored = {"apikey": tenant.api_key, "apisecret": tenant.api_secret}
    base = f"http://{tenant.services.settings.api_hostname}"
    return Client(tenant.app).open(
        path, method=method, data=content, content_type=kind, query_string=stored, base_url=base
    )


@pytest.mark.parametrize(
    "body",
    [
        {"FirstName": SCRIPT},
        {"About": "Ada <img src=x onerror=alert(1)>"},
        {"Addresses": [{"Type": "Home", "City": SCRIPT}]},
        {"CustomFields": {SCRIPT: "x"}},
        {"Email": [{"Type": "Primary", "Value": f"{SCRIPT}@example.test"}]},
        {SCRIPT: "x"},
    ],
)
def test_markup_is_refused_in_any_field(acme: TenantServer, body: dict[str, object]) -> None:
    uid = acme.create(FirstName="Ada")["Uid"]
    assert refused(acme.send("PUT", f"{MANAGE}/{uid}", body)) == (400, 1214)
    assert refused(acme.send("POST", MANAGE, {"Password": "Zebra-kettle-91", **body})) == (400, 1214)
    assert acme.read(uid)["FirstName"] == "Ada"


def test_json_escaped_markup_is_refused(acme: TenantServer) -> None:
    escaped = json.dumps({"FirstName": SCRIPT}).replace("<", "\\u003C").encode()
    assert b"<" not in escaped
    assert refused(sent(acme, MANAGE, escaped, "application/json")) == (400, 1214)


@pytest.mark.parametrize("escape", ["\\b", "\\f", "\\u0001", "\\u007f"])
def test_json_escaped_control_character_is_refused(acme: TenantServer, escape: str) -> None:
    body = f'{{"FirstName": "A{escape}da"}}'.encode()
    assert refused(sent(acme, MANAGE, body, "application/json")) == (400, 1214)


def test_markup_in_form_body_is_refused(acme: TenantServer) -> None:
    kind = "application/x-www-form-urlencoded"
    assert refused(sent(acme, LOGIN, b"email=%3Cscript%3E&password=x", kind)) == (400, 1214)
    assert refused(sent(acme, LOGIN, b"email=a%40example.test&password=%3Cscript%3E", kind)) == (403, 938)


def test_free_text_with_angle_brackets_stays(acme: TenantServer) -> None:
    made = acme.create(About=TEXT, TagLine="&", Company="<Ada> & Söhne")
    assert (made["About"], made["TagLine"], made["Company"]) == (TEXT, "&", "<Ada> & Söhne")


def test_markup_in_password_and_answer_is_accepted(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(security_questions={"q1": "Your first pet?"}, email_verification="optional")
    password = f"{SCRIPT}7!&<img src=x>"
    address = "ada@example.test"
    made = tenant.create(
        Password=password,
        Email=[{"Type": "Primary", "Value": address}],
        SecurityQuestionAnswer={"q1": "<style>"},
    )
    login = tenant.send("POST", LOGIN, {"email": address, "password": password}, with_secret=False)
    assert answered(login)["Profile"]["Uid"] == made["Uid"]
    tenant.update(made["Uid"], {"Password": f"{password}again"})
