"""The tenant's server changes accounts: PUT /identity/v2/manage/account/{uid}, and by identifier."""

from typing import Any

import pytest

from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

ADA = [{"Type": "Primary", "Value": "ada@example.test"}]


@pytest.fixture
def uid(acme: TenantServer) -> str:
    profile = acme.create(
        Email=ADA, UserName="ada", FirstName="Ada", Gender="f", Skills=[{"Id": "1", "Name": "Analysis"}]
    )
    return str(profile["Uid"])


def refusal(acme: TenantServer, uid: str, body: dict[str, Any], **query: Any) -> tuple[int, int]:
    return refused(acme.send("PUT", f"{MANAGE}/{uid}", body, **query))


def test_update_changes_given_fields_only(acme: TenantServer, uid: str) -> None:
    profile = acme.update(uid, {"LastName": "King", "Country": {"Name": "United Kingdom"}})
    assert (profile["FirstName"], profile["FullName"], profile["Gender"]) == ("Ada", "Ada King", "f")
    assert (profile["Country"], profile["ProfileCountry"]) == (
        {"Code": "GB", "Name": "United Kingdom"},
        "United Kingdom",
    )
    assert acme.read(uid) == profile


def test_update_replaces_whole_list(acme: TenantServer, uid: str) -> None:
    assert acme.update(uid, {"Skills": [{"Name": "Poetry"}]})["Skills"] == [{"Id": None, "Name": "Poetry"}]
    assert acme.update(uid, {"Skills": []})["Skills"] == []


def test_list_element_with_op_delete_is_removed(acme: TenantServer, uid: str) -> None:
    acme.update(uid, {"Addresses": [{"Type": "Home", "City": "London"}, {"Type": "Work", "City": "Leeds"}]})
    edits = [{"Type": "home", "op": "delete"}, {"Type": "Work", "City": "York"}, {"Type": "Sea", "City": "Dover"}]
    left = acme.update(uid, {"Addresses": edits})["Addresses"]
    assert [(item["Type"], item["City"], item["Operation"]) for item in left] == [
        ("Work", "York", None),
        ("Sea", "Dover", None),
    ]


@pytest.mark.both_databases
def test_null_clears_field_only_with_nullsupport(acme: TenantServer, uid: str) -> None:
    body = {"FirstName": None, "Gender": None, "Skills": None, "UserName": None}
    updated = acme.update(uid, body)
    assert (updated["FirstName"], updated["Gender"], updated["UserName"]) == ("Ada", "f", "ada")
    cleared = acme.update(uid, body, nullsupport="true")
    assert (cleared["FirstName"], cleared["Gender"], cleared["UserName"]) == (None, None, None)
    assert cleared["Skills"] == [{"Id": "1", "Name": "Analysis"}]  # nullsupport does not clear lists
    assert refused(acme.send("GET", MANAGE, username="ada")) == (403, 1022)


def test_custom_fields_are_merged(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_fields=["shoe", "hat"])
    uid = acme.create(CustomFields={"shoe": "38", "hat": "M"})["Uid"]
    assert acme.update(uid, {"CustomFields": {"hat": "L"}})["CustomFields"] == {"shoe": "38", "hat": "L"}
    assert acme.update(uid, {"CustomFields": {"hat": None}})["CustomFields"] == {"shoe": "38"}
    assert refusal(acme, uid, {"CustomFields": {"coat": "x"}}) == (403, 993)
    assert refusal(acme, uid, {"CustomFields": {"hat": "x" * 1001}}) == (400, 908)
    assert acme.update(uid, {"CustomFields": None}, nullsupport="true")["CustomFields"] is None


def test_update_with_other_email_is_refused(acme: TenantServer, uid: str) -> None:
    assert refusal(acme, uid, {"Email": [{"Type": "Primary", "Value": "new@example.test"}]}) == (403, 1174)
    assert acme.update(uid, {"Email": ADA, "LastName": "King"})["LastName"] == "King"  # the unchanged email is accepted


def test_account_without_email_can_get_one(acme: TenantServer, uid: str) -> None:
    other = acme.create(UserName="grace")["Uid"]
    assert refusal(acme, other, {"Email": ADA}) == (403, 936)
    mine = [{"Type": "Primary", "Value": "grace@example.test"}]
    assert acme.update(other, {"Email": mine, "EmailVerified": True})["EmailVerified"] is True
    assert answered(acme.send("GET", MANAGE, email="grace@example.test"))["Uid"] == other


def test_old_username_is_free_after_change(acme: TenantServer, uid: str) -> None:
    other = acme.create(UserName="grace")["Uid"]
    assert refusal(acme, other, {"UserName": "ADA"}) == (403, 1017)
    assert acme.update(uid, {"UserName": "Countess"})["UserName"] == "countess"
    assert acme.update(other, {"UserName": "ada"})["UserName"] == "ada"


def test_phone_in_use_is_refused(acme: TenantServer, uid: str) -> None:
    acme.create(PhoneId="+442079460123")
    assert refusal(acme, uid, {"PhoneId": "+442079460123"}) == (403, 1058)
    assert refusal(acme, uid, {"PhoneId": "1"}) == (400, 1096)
    assert acme.update(uid, {"PhoneId": "+442079460124"})["PhoneId"] == "+442079460124"


def test_refused_update_changes_nothing(acme: TenantServer, uid: str) -> None:
    acme.create(UserName="grace")
    before = acme.read(uid)
    assert refusal(acme, uid, {"FirstName": "Eve", "IsActive": False, "UserName": "grace"}) == (403, 1017)
    assert acme.read(uid) == before


MALFORMED_UPDATE: list[tuple[dict[str, Any], tuple[int, int]]] = [
    ({"BirthDate": "31-01-1990"}, (400, 968)),
    ({"Addresses": [{"Type": "a"}, {"Type": "A"}]}, (400, 1107)),
    ({"Addresses": [{}]}, (400, 1125)),
    ({"PhoneNumbers": [{"PhoneType": "a"}, {"PhoneType": "A"}]}, (400, 1124)),
    ({"PhoneNumbers": [{}]}, (400, 1213)),
    ({"UserName": "a b"}, (403, 1204)),
    ({"UserName": "a@b"}, (403, 1024)),
    ({"Password": "short"}, (403, 1134)),
    ({"Password": "Password123!"}, (403, 1216)),
    ({"Password": PASSWORD}, (403, 1015)),
    ({"PrivacyPolicy": {"Version": "1"}}, (403, 1197)),
    ({"SecurityQuestionAnswer": {"q": "x"}}, (403, 1095)),
    ({"Email": [{"Type": "Primary", "Value": "x"}]}, (400, 1038)),
    ({"Email": [{"Value": "x@example.test"}]}, (400, 1201)),
    ({"IsActive": "perhaps"}, (400, 908)),
]


def test_malformed_update_is_refused(acme: TenantServer, uid: str, subtests: pytest.Subtests) -> None:
    for body, expected in MALFORMED_UPDATE:
        with subtests.test(str((body, expected))[:60]):
            assert refusal(acme, uid, body) == expected


def test_duplicate_type_in_patched_list_is_refused(acme: TenantServer, uid: str) -> None:
    acme.update(uid, {"Addresses": [{"Type": "Home"}, {"Type": "Work"}]})
    edits = [{"Type": "Work", "op": "delete"}, {"Type": "Sea"}, {"Type": "SEA"}]
    assert refusal(acme, uid, {"Addresses": edits}) == (400, 1107)


def test_update_without_body_is_refused(acme: TenantServer, uid: str) -> None:
    assert refused(acme.send("PUT", f"{MANAGE}/{uid}")) == (400, 1079)


def test_previous_password_is_refused(acme: TenantServer, uid: str) -> None:
    acme.update(uid, {"Password": "Quartz-harbor-17"})
    assert refusal(acme, uid, {"Password": PASSWORD}) == (403, 1015)
    assert acme.update(uid, {"Password": "Velvet-anchor-23"})["IsSecurePassword"] is True


def test_new_password_revokes_access_token(acme: TenantServer, uid: str) -> None:
    token = acme.tokens(uid)["access_token"]
    acme.update(uid, {"Password": "Quartz-harbor-17"})
    assert refused(acme.send("GET", "/identity/v2/auth/account", bearer=token)) == (401, 1409)


@pytest.mark.parametrize("closing", [{"IsActive": False}, {"IsDeleted": True}, {"DisableLogin": True}])
def test_closing_account_revokes_its_tokens(acme: TenantServer, uid: str, closing: dict[str, bool]) -> None:
    issued = acme.tokens(uid)
    acme.update(uid, closing)
    assert refused(acme.send("GET", "/identity/v2/auth/account", bearer=issued["access_token"])) == (401, 1409)
    refresh = acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=issued["refresh_token"])
    assert refused(refresh) == (403, 1217)


@pytest.mark.both_databases
def test_update_locks_and_unlocks_sign_in(acme: TenantServer, uid: str) -> None:
    locked = acme.update(uid, {"IsLoginLocked": True})
    assert (locked["IsLoginLocked"], locked["LoginLockedType"]) == (True, "Block")
    free = acme.update(uid, {"IsLoginLocked": False})
    assert (free["IsLoginLocked"], free["LoginLockedType"]) == (False, "None")


@pytest.mark.parametrize("named", [{"email": "ADA@example.test"}, {"username": "Ada"}, {"phone": "+442079460123"}])
def test_account_is_updated_by_identifier(acme: TenantServer, uid: str, named: dict[str, Any]) -> None:
    acme.update(uid, {"PhoneId": "+442079460123"})
    assert answered(acme.send("PUT", MANAGE, {"LastName": "King"}, **named))["Uid"] == uid
    assert acme.read(uid)["LastName"] == "King"


def test_identifier_in_body_does_not_select_account(acme: TenantServer, uid: str) -> None:
    assert refused(acme.send("PUT", MANAGE, {"email": "ada@example.test", "LastName": "Eve"})) == (400, 1118)
    assert refused(acme.send("PUT", f"{MANAGE}/{'0' * 32}", {"uid": uid, "LastName": "Eve"})) == (403, 984)
    assert acme.read(uid)["LastName"] is None


def test_profile_modified_date_follows_profile_edits_only(acme: TenantServer, uid: str) -> None:
    before = acme.read(uid)
    after = acme.update(uid, {"IsLoginLocked": False})
    assert after["ProfileModifiedDate"] == before["ProfileModifiedDate"]
    assert after["ModifiedDate"] >= before["ModifiedDate"]
    assert acme.update(uid, {"About": "x"})["ProfileModifiedDate"] >= after["ProfileModifiedDate"]


PICTURE_WITH_INVALID_URL = [
    "https://a.b;script-src-elem *;x/x.png",
    "https://[::1/x",
    "javascript:alert(1)",
    "//a.b/x.png",
    "x",
]


@pytest.mark.parametrize("name", ["ImageUrl", "imageurl", "ThumbnailImageUrl", "HttpsImageUrl", "GravatarImageUrl"])
def test_picture_with_invalid_url_is_refused(
    acme: TenantServer, uid: str, name: str, subtests: pytest.Subtests
) -> None:
    for picture in PICTURE_WITH_INVALID_URL:
        with subtests.test(picture):
            assert refusal(acme, uid, {name: picture}) == (400, 908)


def test_picture_can_be_set_and_cleared(acme: TenantServer, uid: str) -> None:
    assert acme.update(uid, {"ImageUrl": "https://a.b/x.png"})["ImageUrl"] == "https://a.b/x.png"
    assert not acme.update(uid, {"ImageUrl": ""})["ImageUrl"]
