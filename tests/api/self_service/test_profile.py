"""Profile updates: PUT /identity/v2/auth/account and /auth/username."""

import pytest

from tests.support.accounts.self_service import OWN, ProfilePerson, entries, mails
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

FORM = [
    {"name": "email", "required": True},
    {"name": "password", "type": "password", "required": True},
    {"name": "first_name", "required": True, "max_length": 20},
    {"name": "company", "type": "option", "options": [{"value": "Acme"}, {"value": "Globex"}]},
    {"name": "cf_shoe", "rule": "integer"},
]


@pytest.fixture
def ada(acme: TenantServer) -> ProfilePerson:
    email = [{"Type": "Primary", "Value": "ada@example.test"}]
    return ProfilePerson(acme, FirstName="Ada", UserName="ada", Email=email)


def test_update_changes_only_the_fields_sent(ada: ProfilePerson) -> None:
    profile = ada.update({"LastName": "King", "Country": {"Name": "United Kingdom"}})
    assert (profile["FirstName"], profile["FullName"]) == ("Ada", "Ada King")
    assert profile["Country"]["Code"] == "GB"
    assert answered(ada.send("GET", OWN))["LastName"] == "King"
    assert "event.UpdateProfile" in entries(ada.server)


def test_fields_parameter_limits_answer(ada: ProfilePerson) -> None:
    assert ada.update({"LastName": "King"}, fields="LastName") == {"LastName": "King"}


def test_server_only_fields_are_ignored(ada: ProfilePerson) -> None:
    body = {"IsActive": False, "EmailVerified": False, "RegistrationSource": "x", "Roles": ["admin"], "Uid": "0" * 32}
    before = answered(ada.send("GET", OWN))
    after = ada.update({**body, "ExternalUserLoginId": "x", "NoOfLogins": 99, "PrivacyPolicy": {"Version": "1"}})
    unchanged = ("IsActive", "EmailVerified", "RegistrationSource", "Roles", "Uid", "NoOfLogins", "ExternalUserLoginId")
    assert [after[name] for name in unchanged] == [before[name] for name in unchanged]


def test_delete_op_removes_elements_and_nulls_need_nullsupport(ada: ProfilePerson) -> None:
    ada.update({"Addresses": [{"Type": "Home", "City": "London"}, {"Type": "Work", "City": "Leeds"}]})
    addresses = ada.update({"Addresses": [{"Type": "home", "op": "delete"}]})["Addresses"]
    assert [entry["Type"] for entry in addresses] == ["Work"]
    assert ada.update({"Addresses": [{"Type": "Work", "Operation": "delete"}]})["Addresses"] == []
    assert ada.update({"FirstName": None, "UserName": None})["FirstName"] == "Ada"
    cleared = ada.update({"FirstName": None, "UserName": None}, nullsupport="true")
    assert (cleared["FirstName"], cleared["UserName"]) == (None, "ada"), "a username is cleared by UID only"


MALFORMED_UPDATE = [
    ({"BirthDate": "02-30-1990"}, (400, 968)),
    ({"BirthDate": "31/12/1990"}, (400, 968)),
    ({"BirthDate": "12-10-2990"}, (400, 968)),
    ({"Addresses": [{"Type": "a"}, {"Type": "A"}]}, (400, 1107)),
    ({"Addresses": [{}]}, (400, 1125)),
    ({"PhoneNumbers": [{"PhoneType": "a"}, {"PhoneType": "A"}]}, (400, 1124)),
    ({"PhoneNumbers": [{}]}, (400, 1213)),
    ({"CustomFields": {"coat": "x"}}, (403, 993)),
    ({"UserName": "a b"}, (403, 1204)),
    ({"Password": "short", "oldpassword": PASSWORD}, (403, 1134)),
    ({"Password": "Password123!", "oldpassword": PASSWORD}, (403, 1216)),
    ({"Password": PASSWORD, "oldpassword": PASSWORD}, (403, 1015)),
    ({"SecurityQuestionAnswer": {"q": "x"}}, (403, 1095)),
    ({"Email": [{"Type": "Primary", "Value": "fresh@example.test"}]}, (403, 1174)),
    ({"PhoneId": "1"}, (400, 1096)),
    ({"FirstName": "x" * 10_001}, (400, 908)),
    ({"Gender": "x"}, (400, 908)),
    ({"FirstName": ["a"]}, (400, 908)),
]


def test_malformed_update_is_refused(ada: ProfilePerson, subtests: pytest.Subtests) -> None:
    for body, expected in MALFORMED_UPDATE:
        with subtests.test(str((body, expected))[:60]):
            assert ada.refusal("PUT", OWN, body) == expected
            assert answered(ada.send("GET", OWN))["FirstName"] == "Ada"


def test_missing_body_is_refused(ada: ProfilePerson) -> None:
    assert ada.refusal("PUT", OWN) == (400, 1079)


@pytest.mark.both_databases
def test_token_of_other_tenant_is_refused(ada: ProfilePerson, globex: TenantServer) -> None:
    assert refused(globex.send("PUT", OWN, {"FirstName": "Eve"}, bearer=ada.token)) == (401, 1409)


def test_tenant_form_is_enforced(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(registration_form=FORM, custom_fields=["shoe"], minimum_age=18)
    ada = ProfilePerson(acme, FirstName="Ada")
    assert ada.update({"Company": "Globex", "CustomFields": {"shoe": "38"}})["CustomFields"] == {"shoe": "38"}
    for body in ({"FirstName": ""}, {"FirstName": "x" * 21}, {"Company": "x"}, {"CustomFields": {"shoe": "wide"}}):
        assert ada.refusal("PUT", OWN, body) == (403, 1134)
    assert ada.refusal("PUT", OWN, {"FirstName": None}, nullsupport="true") == (403, 1134)
    assert ada.update({"FirstName": None})["FirstName"] == "Ada"
    assert ada.refusal("PUT", OWN, {"BirthDate": "12-10-2020"}) == (403, 1163)


def test_security_answers_change_but_not_their_questions(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(security_questions={"pet": "First pet?", "town": "Home town?"})
    ada = ProfilePerson(acme)
    before = answered(ada.send("PUT", OWN, {"securityquestionanswer": {"pet": "Rex"}, "oldpassword": PASSWORD}))
    assert before["IsPosted"] is True
    assert ada.refusal("PUT", OWN, {"SecurityQuestionAnswer": {"town": "Ockham"}}) == (403, 1091)
    assert ada.refusal("PUT", OWN, {"SecurityQuestionAnswer": {"car": "x"}}) == (403, 1091)
    assert ada.refusal("PUT", OWN, {"SecurityQuestionAnswer": {"pet": " "}}) == (400, 908)
    ada.update({"SecurityQuestionAnswer": {"pet": "Spot"}, "oldpassword": PASSWORD})
    assert entries(acme).count("security_answers.changed") == 2


def test_account_without_address_may_add_one(acme: TenantServer, ada: ProfilePerson) -> None:
    grace = ProfilePerson(acme, UserName="grace")
    assert grace.refusal("PUT", OWN, {"Email": [{"Type": "Primary", "Value": ada.email.upper()}]}) == (403, 936)
    profile = grace.update({"Email": [{"Type": "Primary", "Value": "grace@example.test"}]})
    assert (profile["Email"], profile["EmailVerified"]) == ([], False)
    assert profile["UnverifiedEmail"] == [{"Type": "Primary", "Value": "grace@example.test"}]
    assert len(mails(acme, "grace@example.test")) == 1


def test_blocked_address_is_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(email_access={"block": ["eve@example.test", "evil.test"]})
    grace = ProfilePerson(acme, UserName="grace")
    for address, expected in (("Eve@example.test", (403, 1056)), ("x@mail.evil.test", (403, 1247))):
        assert grace.refusal("PUT", OWN, {"Email": [{"Type": "Primary", "Value": address}]}) == expected


def test_new_password_ends_other_sessions_and_is_notified(ada: ProfilePerson) -> None:
    other = str(ada.server.tokens(ada.uid)["access_token"])
    ada.update({"Password": "Quartz-harbor-17", "oldpassword": PASSWORD})
    assert answered(ada.send("GET", OWN))["Uid"] == ada.uid
    assert refused(ada.server.send("GET", OWN, bearer=other)) == (401, 1409)
    assert len(mails(ada.server, ada.email)) == 1


@pytest.mark.parametrize(
    ("username", "expected"),
    [
        ("", (400, 1075)),
        (None, (400, 1075)),
        ("a b", (403, 1204)),
        ("x" * 33, (403, 1204)),
        ("a@b", (403, 1024)),
        ("a\u200bb", (403, 1024)),
        ("GRACE", (403, 1017)),
        ("\uff27race", (403, 1017)),
        ("x" * 10_000, (400, 908)),
    ],
)
def test_invalid_username_is_refused(ada: ProfilePerson, username: str | None, expected: tuple[int, int]) -> None:
    ada.server.create(UserName="grace")
    assert ada.refusal("PUT", "/identity/v2/auth/username", {"username": username}) == expected


def test_username_change_is_notified(ada: ProfilePerson) -> None:
    assert answered(ada.send("PUT", "/identity/v2/auth/username", {"username": "Countess"})) == {"IsPosted": True}
    assert answered(ada.send("GET", OWN))["UserName"] == "countess"
    assert len(mails(ada.server, ada.email)) == 1
    assert "username.changed" in entries(ada.server)
    assert ada.server.create(UserName="ada")["UserName"] == "ada"


def test_confusable_username_is_distinct_within_one_script(ada: ProfilePerson) -> None:
    """A name in Cyrillic letters is distinct from its Latin look-alike; a mixed-script name is refused."""
    grace = ProfilePerson(ada.server, UserName="grace")
    assert grace.refusal("PUT", "/identity/v2/auth/username", {"username": "\u0430da"}) == (403, 1024)
    cyrillic = {"username": "\u0430\u0434\u0430"}
    assert answered(grace.send("PUT", "/identity/v2/auth/username", cyrillic)) == {"IsPosted": True}
    assert answered(ada.send("GET", OWN))["UserName"] == "ada"
