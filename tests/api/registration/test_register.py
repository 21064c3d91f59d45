"""Registration: POST /identity/v2/auth/register."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.accounts.mailbox import sent_messages
from tests.support.accounts.registering import REGISTER, UNLIMITED, register
from tests.support.accounts.sotts import sott_of
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

EMAIL = [{"Type": "Primary", "Value": "Ada@Example.test"}]


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED)


def account(tenant: TenantServer, **named: Any) -> dict[str, Any]:
    return answered(tenant.send("GET", MANAGE, **(named or {"email": "ada@example.test"})))


def test_required_verification_starts_no_session(acme: TenantServer) -> None:
    assert answered(register(acme, FirstName="Ada")) == {"IsPosted": True, "Data": None}
    profile = account(acme)
    assert (profile["FirstName"], profile["EmailVerified"], profile["NoOfLogins"]) == ("Ada", False, 0)
    assert (profile["RegistrationSource"], profile["Provider"]) == ("API", "Email")


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_other_verification_modes_start_session_at_once(new_tenant_server: NewTenantServer, mode: str) -> None:
    acme = new_tenant_server(limits=UNLIMITED, email_verification=mode)
    data = answered(register(acme))["Data"]
    assert set(data) == {"Profile", "access_token", "refresh_token", "expires_in"}
    assert (data["Profile"]["NoOfLogins"], data["Profile"]["FirstLogin"]) == (1, True)
    read = acme.send("GET", "/identity/v2/auth/account", bearer=data["access_token"])
    assert answered(read)["Uid"] == data["Profile"]["Uid"]


def test_fields_parameter_limits_profile(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, email_verification="optional")
    data = answered(register(acme, query={"fields": "Uid"}))["Data"]
    assert set(data["Profile"]) == {"Uid"}


def test_username_only_registration_signs_in_at_once(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, username_login=True)
    assert answered(register(acme, None, UserName="Countess"))["Data"]["Profile"]["UserName"] == "countess"


def test_referer_is_stored_without_its_query(acme: TenantServer) -> None:
    body = {"Password": PASSWORD, "Email": EMAIL}
    answer = PlainClient(acme.app).post(
        REGISTER,
        json=body,
        query_string={"apikey": acme.api_key},
        base_url=f"http://{acme.services.settings.api_hostname}",
        headers={"X-Anything-Sott": sott_of(acme), "Referer": "https://u:p@shop.example/join?token=secret#x"},
    )
    assert answered(answer)["IsPosted"] is True
    assert account(acme)["RegistrationSource"] == "https://shop.example/join"


MANY = [{"Type": "Primary", "Value": "a@example.test"}]
TWO_TYPES = [{"Type": "Home"}, {"Type": "home"}]


MALFORMED_REGISTRATION: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({"Password": None}, (400, 1089)),
    ({"Email": None}, (400, 1038)),
    ({"Email": [{"Type": "Primary", "Value": "not an address"}]}, (400, 1038)),
    ({"Email": [{"Type": "Primary", "Value": "a@example.test\r\nBcc: b@example.test"}]}, (400, 1038)),
    ({"Email": [{"Type": "Primary", "Value": "x" * 250 + "@example.test"}]}, (400, 1038)),
    ({"Email": [{"Type": "Primary", "Value": "x" * 10_000}]}, (400, 908)),
    ({"Email": [{"Value": "a@example.test"}]}, (400, 1201)),
    ({"Email": [*MANY, {"Type": "Work", "Value": "A@EXAMPLE.test"}]}, (400, 1202)),
    ({"Email": [*MANY, {"Type": "primary", "Value": "b@example.test"}]}, (400, 1203)),
    ({"PhoneId": "0151 23456"}, (400, 1096)),
    ({"PhoneId": "+442079460123"}, (403, 1074)),
    ({"UserName": "two words"}, (403, 1204)),
    ({"UserName": "x" * 10_000}, (400, 908)),
    ({"UserName": "a\u200bda"}, (403, 1024)),
    ({"Addresses": TWO_TYPES}, (400, 1107)),
    ({"Addresses": [{"City": "London"}]}, (400, 1125)),
    ({"PhoneNumbers": [{"PhoneType": "Work"}, {"PhoneType": "Work"}]}, (400, 1124)),
    ({"PhoneNumbers": [{"PhoneNumber": "1"}]}, (400, 1213)),
    ({"BirthDate": "02-30-1990"}, (400, 968)),
    ({"BirthDate": "02/29/2001"}, (400, 968)),
    ({"BirthDate": "01-01-2999"}, (400, 968)),
    ({"CustomFields": {"unknown": "x"}}, (403, 993)),
    ({"SecurityQuestionAnswer": {"absent-question": "x"}}, (403, 1095)),
    ({"FirstName": "x" * 10_001}, (400, 908)),
    ({"FirstName": "a\x00b"}, (400, 1214)),
    ({"Gender": "x"}, (400, 908)),
    ({"Password": "short"}, (403, 1134)),
    ({"Password": "Password123!"}, (403, 1216)),
    ({"Password": "x" * 10_000}, (400, 908)),
]  # fmt: skip


def test_malformed_registration_is_refused(acme: TenantServer, subtests: pytest.Subtests) -> None:
    for members, expected in MALFORMED_REGISTRATION:
        with subtests.test(str((members, expected))[:60]):
            assert refused(register(acme, **{"Email": EMAIL, **members})) == expected
            assert refused(acme.send("GET", MANAGE, email="ada@example.test")) == (403, 938)


@pytest.mark.parametrize(
    ("settings", "members", "expected"),
    [
        ({"registration": False}, {}, (403, 1190)),
        ({"minimum_age": 16}, {"BirthDate": "01-01-2020"}, (403, 1163)),
        ({"email_access": {"block": ["example.test"]}}, {}, (403, 1247)),
        ({"email_access": {"block": ["@example.test"]}}, {}, (403, 1247)),
        ({"email_access": {"block": ["test"]}}, {}, (403, 1247)),
        ({"email_access": {"block": ["ADA@example.test"]}}, {}, (403, 1056)),
        ({"email_access": {"allow": ["other.test"]}}, {}, (403, 1247)),
    ],
)
def test_tenant_rules_refuse_registration(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], members: dict[str, Any], expected: tuple[int, int]
) -> None:
    acme = new_tenant_server(limits=UNLIMITED, **settings)
    assert refused(register(acme, **members)) == expected


def test_person_of_the_minimum_age_may_register(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, minimum_age=16)
    today = acme.services.clock.now().date()
    for born, expected in ((today + timedelta(days=2), (403, 1163)), (today, (200, None))):
        birth_date = f"{born.month:02}-{born.day:02}-{born.year - 16}"
        assert refused(register(acme, BirthDate=birth_date)) == expected


@pytest.mark.parametrize(
    "access",
    [
        {"allow": ["example.test"]},
        {"allow": ["ada@example.test"], "block": ["example.test"]},
        {"block": ["ample.test", "eve@example.test"]},
    ],
)
def test_access_lists_admit_allowed_address(new_tenant_server: NewTenantServer, access: dict[str, Any]) -> None:
    assert answered(register(new_tenant_server(limits=UNLIMITED, email_access=access)))["IsPosted"] is True


BUECHER = "b\u00fccher.example"
IDNA = "xn--bcher-kva.example"


@pytest.mark.parametrize(
    "listed", [BUECHER, "B\u00dcCHER.example", f"*.{BUECHER}", IDNA, f"ada@{BUECHER}", f"ada@{IDNA}"]
)
@pytest.mark.parametrize("domain", [BUECHER, IDNA])
def test_access_lists_compare_domains_as_idna(new_tenant_server: NewTenantServer, listed: str, domain: str) -> None:
    address = [{"Type": "Primary", "Value": f"ada@{domain}"}]
    blocks = new_tenant_server(limits=UNLIMITED, email_access={"block": [listed]})
    assert refused(register(blocks, Email=address)) == (403, 1056 if "ada@" in listed else 1247)
    allows = new_tenant_server(limits=UNLIMITED, email_access={"allow": [listed]})
    assert answered(register(allows, Email=address))["IsPosted"] is True


def test_access_list_blocks_idn_top_level_domain(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, email_access={"block": ["\u0440\u0444"]})
    assert refused(register(acme, Email=[{"Type": "Primary", "Value": "ada@shop.xn--p1ai"}])) == (403, 1247)


def test_username_that_reads_as_phone_number_is_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True, email_login=True)
    assert refused(register(acme, UserName="+4917012399")) == (403, 1024)
    assert refused(acme.send("GET", "/identity/v2/auth/username", with_secret=False, username="017012399")) == (
        403,
        1024,
    )
    uid = acme.create(Email=EMAIL)["Uid"]
    assert refused(acme.send("PUT", f"{MANAGE}/{uid}", {"UserName": "017012399"})) == (403, 1024)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"Email": [{"Type": "Primary", "Value": "ADA@EXAMPLE.TEST"}]}, (403, 936)),
        ({"Email": MANY, "UserName": "COUNTESS"}, (403, 1017)),
        ({"Email": MANY, "UserName": "\uff23ountess"}, (403, 1017)),
        ({"Email": MANY, "PhoneId": "+44 20 7946 0123"}, (403, 1058)),
    ],
)
def test_taken_identifier_is_refused(
    new_tenant_server: NewTenantServer, members: dict[str, Any], expected: tuple[int, int]
) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True, email_login=True)
    acme.create(Email=EMAIL, UserName="Countess", PhoneId="+442079460123")
    assert refused(register(acme, **members)) == expected


def test_confusable_names_are_distinct_within_one_script(acme: TenantServer) -> None:
    acme.create(Email=EMAIL, UserName="ada")
    cyrillic = [{"Type": "Primary", "Value": "\u0430da@example.test"}]
    assert (
        register(acme, Email=cyrillic, UserName="\u0430da").get_json()["ErrorCode"] == 1024
    )  # two scripts in one name
    assert answered(register(acme, Email=cyrillic, UserName="\u0430\u0434\u0430"))["IsPosted"] is True


def test_server_only_fields_are_ignored(acme: TenantServer) -> None:
    answered(
        register(acme, EmailVerified=True, IsActive=False, DisableLogin=True, RegistrationSource="me", Roles=["x"])
    )
    profile = account(acme)
    assert (profile["EmailVerified"], profile["IsActive"], profile["RegistrationSource"]) == (False, True, "API")
    assert profile["Roles"] is None


FORM = [
    {"name": "email", "required": True},
    {"name": "first_name", "required": True, "min_length": 2, "max_length": 5},
    {"name": "city", "type": "option", "options": [{"value": "bonn"}]},
    {"name": "cf_size", "required": True, "rule": "integer"},
    {"name": "website", "rule": "valid_url"},
    {"name": "nick_name", "matches": "first_name"},
    {"name": "terms", "type": "multi", "required": True},
    {"name": "password", "type": "password", "required": True},
]
GOOD: dict[str, Any] = {"FirstName": "Ada", "CustomFields": {"size": "38"}, "AcceptPrivacyPolicy": True}


@pytest.mark.parametrize(
    ("members", "expected", "named"),
    [
        ({}, (200, None), ""),
        ({"FirstName": None, "firstname": "Ada"}, (200, None), ""),
        ({"FirstName": " "}, (400, 908), "firstname"),
        ({"CustomFields": None}, (400, 908), "cf_size"),
        ({"AcceptPrivacyPolicy": False}, (403, 1196), ""),
        ({"AcceptPrivacyPolicy": None}, (403, 1196), ""),
        ({"FirstName": "A"}, (403, 1134), "firstname"),
        ({"FirstName": "Augusta"}, (403, 1134), "firstname"),
        ({"City": "cologne"}, (403, 1134), "city"),
        ({"CustomFields": {"size": "wide"}}, (403, 1134), "cf_size"),
        ({"Website": "javascript:alert(1)"}, (403, 1134), "website"),
        ({"NickName": "Eve"}, (403, 1134), "nickname"),
        ({"Email": None}, (400, 1038), ""),
        ({"Password": ""}, (400, 1089), ""),
    ],
)  # fmt: skip
def test_registration_form_rules_are_enforced(
    new_tenant_server: NewTenantServer, members: dict[str, Any], expected: tuple[int, int | None], named: str
) -> None:
    acme = new_tenant_server(limits=UNLIMITED, registration_form=FORM, custom_fields=["size"])
    body = {name: value for name, value in {"Email": EMAIL, **GOOD, **members}.items() if value is not None}
    answer = register(acme, **{"email": None, **body})
    assert refused(answer) == expected
    assert named in answer.text


def test_registrations_are_limited_by_client_address(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits={"register_per_minute_per_address": 2})
    codes = [register(acme, Email=[{"Type": "Primary", "Value": f"a{n}@example.test"}]).status_code for n in range(3)]
    assert codes == [200, 200, 429]


def test_verification_url_outside_allowlist_is_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, url_whitelist=["https://shop.example"])
    assert refused(register(acme, query={"verificationurl": "https://evil.example/x"})) == (403, 1249)
    assert answered(register(acme, query={"verificationurl": "https://shop.example/x"}))["IsPosted"] is True


PHONE = "+44 20 7946 0123"


def test_phone_only_registration_needs_its_code(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True, email_verification="disabled")
    answer = register(acme, None, PhoneId=PHONE)
    if acme.services.settings.sms_target:
        assert answered(answer) == {"IsPosted": True, "Data": None}
        assert account(acme, phone="+442079460123")["PhoneIdVerified"] is False
    else:
        assert refused(answer) == (403, 1071)
        assert refused(acme.send("GET", MANAGE, phone="+442079460123")) == (403, 1043)


@pytest.mark.both_databases
def test_phone_beside_email_does_not_block_registration(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True, email_verification="optional")
    assert answered(register(acme, PhoneId=PHONE))["Data"]["Profile"]["PhoneId"] == "+442079460123"


def test_suppressed_sms_still_creates_pending_account(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, phone_login=True)
    answer = register(acme, None, PhoneId=PHONE, query={"options": "preventverificationsms"})
    assert answered(answer) == {"IsPosted": True, "Data": None}
    assert account(acme, phone="+442079460123")["PhoneIdVerified"] is False
    assert sent_messages(acme.services, acme.tenant_id, "sms") == []
