"""The tenant's server creates accounts: POST /identity/v2/manage/account."""

from typing import Any

import pytest

from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

EMAIL = [{"Type": "Primary", "Value": "Ada@Example.test"}]


def refusal(acme: TenantServer, **members: Any) -> tuple[int, int]:
    return refused(acme.send("POST", MANAGE, {"Password": PASSWORD, "Email": EMAIL, **members}))


def test_created_account_profile_is_returned(acme: TenantServer) -> None:
    profile = acme.create(Email=EMAIL, FirstName="Ada", LastName="Lovelace", EmailVerified=True)
    assert (profile["FullName"], profile["Email"], profile["EmailVerified"]) == ("Ada Lovelace", EMAIL, True)
    assert len(profile["Uid"]) == 32
    assert acme.read(profile["Uid"]) == profile


def test_password_is_masked_in_response(acme: TenantServer) -> None:
    answer = acme.send("POST", MANAGE, {"Password": PASSWORD, "Email": EMAIL})
    assert answered(answer)["Password"] == "********"
    assert PASSWORD not in answer.text


def test_field_names_ignore_case_except_in_free_maps(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_fields=["shoeSize"])
    body = {
        "PASSWORD": PASSWORD,
        "email": [{"type": "Primary", "VALUE": "a@example.test"}],
        "firstname": "Ada",
        "customfields": {"shoeSize": "38"},
        "webprofiles": {"gitHub": "x", "GITHUB": "y"},
    }
    profile = answered(acme.send("POST", MANAGE, body))
    assert (profile["FirstName"], profile["CustomFields"]) == ("Ada", {"shoeSize": "38"})
    assert profile["WebProfiles"] == {"gitHub": "x", "GITHUB": "y"}


def test_exact_field_name_wins_over_other_cases(acme: TenantServer) -> None:
    assert acme.create(firstname="wrong", FirstName="Ada", FIRSTNAME="wrong too")["FirstName"] == "Ada"


def test_read_only_and_unknown_fields_are_ignored(acme: TenantServer) -> None:
    profile = acme.create(
        ID="mine", NoOfLogins=7, Roles=["admin"], FullName="X", CreatedDate="2001-01-01", Nonsense={"a": 1}
    )
    assert (profile["NoOfLogins"], profile["Roles"], profile["FullName"]) == (0, None, None)
    assert profile["ID"] != "mine"
    assert "Nonsense" not in profile


def test_username_or_phone_alone_identifies_account(acme: TenantServer) -> None:
    assert acme.create(UserName="Ada")["UserName"] == "ada"
    profile = acme.create(PhoneId="+44 20 7946 0123", PhoneIdVerified="true")
    assert (profile["PhoneId"], profile["PhoneIdVerified"], profile["Email"]) == ("+442079460123", True, [])


def test_primary_email_is_listed_first(acme: TenantServer) -> None:
    values = [{"Type": "Work", "Value": "w@example.test"}, {"Type": "Primary", "Value": "p@example.test"}]
    assert [entry["Type"] for entry in acme.create(Email=values)["Email"]] == ["Primary", "Work"]


MALFORMED_ACCOUNT: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({"Password": None}, (400, 1089)),
    ({"Email": None}, (400, 1038)),
    ({"Email": [{"Type": "Primary", "Value": "not an address"}]}, (400, 1038)),
    ({"Email": [{"Value": "a@example.test"}]}, (400, 1201)),
    ({"Email": [*EMAIL, {"Type": "Work", "Value": "ADA@example.test"}]}, (400, 1202)),
    ({"Email": [*EMAIL, {"Type": "primary", "Value": "b@example.test"}]}, (400, 1203)),
    ({"PhoneId": "0151 23456"}, (400, 1096)),
    ({"UserName": "two words"}, (403, 1204)),
    ({"UserName": "x" * 33}, (403, 1204)),
    ({"UserName": "a@b.example"}, (403, 1024)),
    ({"UserName": "a\u200bda"}, (403, 1024)),
    ({"Addresses": [{"Type": "Home"}, {"Type": "home"}]}, (400, 1107)),
    ({"Addresses": [{"City": "London"}]}, (400, 1125)),
    ({"PhoneNumbers": [{"PhoneType": "Work"}, {"PhoneType": "Work"}]}, (400, 1124)),
    ({"PhoneNumbers": [{"PhoneNumber": "1"}]}, (400, 1213)),
    ({"BirthDate": "1990-01-31"}, (400, 968)),
    ({"BirthDate": "02-30-1990"}, (400, 968)),
    ({"BirthDate": "01-01-2999"}, (400, 968)),
    ({"CustomFields": {"unknown": "x"}}, (403, 993)),
    ({"Password": "short"}, (403, 1134)),
    ({"Password": "Password123!"}, (403, 1216)),
    ({"PrivacyPolicy": {"Version": "9"}}, (403, 1197)),
    ({"SecurityQuestionAnswer": {"absent-question": "x"}}, (403, 1095)),
    ({"Gender": "x"}, (400, 908)),
    ({"Skills": "many"}, (400, 908)),
    ({"FirstName": {"a": 1}}, (400, 908)),
    ({"Hireable": "perhaps"}, (400, 908)),
    ({"FollowersCount": -1}, (400, 908)),
    ({"Email": "a@example.test"}, (400, 908)),
]  # fmt: skip


def test_malformed_account_is_refused(acme: TenantServer, subtests: pytest.Subtests) -> None:
    for members, expected in MALFORMED_ACCOUNT:
        with subtests.test(str((members, expected))[:60]):
            assert refusal(acme, **members) == expected
            assert refused(acme.send("GET", MANAGE, email="ada@example.test")) == (403, 938)


def test_refusal_names_invalid_field(acme: TenantServer) -> None:
    body = {"Password": PASSWORD, "Email": EMAIL, "Positions": [{"Company": {"Name": ["x"]}}]}
    assert "Positions[0].Company.Name" in acme.send("POST", MANAGE, body).get_json()["Description"]


def test_each_violated_password_rule_is_reported(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(password_policy={"require_uppercase": True, "min_length": 12})
    answer = acme.send("POST", MANAGE, {"Password": "abc", "Email": EMAIL}).get_json()
    assert [problem["FieldName"] for problem in answer["Errors"]] == ["Password"] * 4
    assert "at least 12" in answer["Errors"][0]["ErrorMessage"]


def test_password_containing_own_name_is_refused(acme: TenantServer) -> None:
    assert refusal(acme, LastName="Lovelace", Password="lovelace-41-xx") == (403, 1216)


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"Email": [{"Type": "Primary", "Value": "ADA@EXAMPLE.TEST"}]}, (403, 936)),
        ({"Email": [{"Type": "Primary", "Value": "second@example.test"}]}, (403, 936)),
        ({"Email": None, "UserName": "COUNTESS"}, (403, 1017)),
        ({"Email": None, "PhoneId": "+44 20 7946 0123"}, (403, 1058)),
    ],
)
def test_identifier_in_use_is_refused(acme: TenantServer, members: dict[str, Any], expected: tuple[int, int]) -> None:
    second = {"Type": "Work", "Value": "second@example.test"}
    acme.create(Email=[*EMAIL, second], UserName="Countess", PhoneId="+442079460123")
    assert refusal(acme, **members) == expected


def test_same_email_is_allowed_in_two_tenants(acme: TenantServer, globex: TenantServer) -> None:
    assert acme.create(Email=EMAIL)["Uid"] != globex.create(Email=EMAIL)["Uid"]


def test_custom_uid_is_ignored_where_not_enabled(acme: TenantServer) -> None:
    profile = acme.create(Uid="ada")
    assert (profile["Uid"] == "ada", profile["IsCustomUid"]) == (False, False)


@pytest.mark.both_databases
def test_custom_uid_must_be_unique_and_well_formed(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_uid=True)
    profile = acme.create(Uid="ada-1")
    assert (profile["Uid"], profile["IsCustomUid"]) == ("ada-1", True)
    assert refusal(acme, Uid="ada-1") == (403, 1044)
    assert refusal(acme, Uid="a d a") == (403, 1200)
    assert refusal(acme, Uid="identities") == (403, 1200)
    assert refusal(acme, Uid="Nobody") == (403, 1200)  # reserved for one-time tokens of unknown identifiers


def test_security_answers_are_never_returned(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(security_questions={"q1": "Your first pet?"})
    profile = acme.create(SecurityQuestionAnswer={"q1": "Byron the cat"})
    assert "Byron" not in str(profile)


@pytest.mark.parametrize(
    ("content", "media_type", "expected"),
    [
        (b"", "application/json", (400, 965)),
        (b"[1]", "application/json", (400, 965)),
        (b'{"a":', "application/json", (400, 965)),
        (b"[" * 10_000, "application/json", (400, 965)),
        (b'{"FirstName":"' + b"x" * 1_100_000 + b'"}', "application/json", (400, 965)),
        (b'{"FirstName":"a\\u0000"}', "application/json", (400, 1214)),
        (b'{"FirstName":"\\ud800"}', "application/json", (400, 965)),
        (b"FirstName=Ada", "application/x-www-form-urlencoded", (400, 1083)),
        (b"<a/>", "text/xml", (400, 1083)),
    ],
)
def test_unreadable_body_is_refused(
    acme: TenantServer, content: bytes, media_type: str, expected: tuple[int, int]
) -> None:
    answer = PlainClient(acme.app).post(
        MANAGE,
        data=content,
        content_type=media_type,
        query_string={"apikey": acme.api_key, "apisecret": acme.api_secret},
        base_url=f"http://{acme.services.settings.api_hostname}",
    )
    assert refused(answer) == expected


def test_missing_or_wrong_api_secret_is_refused(acme: TenantServer) -> None:
    body = {"Password": PASSWORD, "Email": EMAIL}
    assert refused(acme.send("POST", MANAGE, body, with_secret=False)) == (400, 923)
    assert refused(acme.send("POST", MANAGE, body, apisecret="wrong")) == (401, 902)
