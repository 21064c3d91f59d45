"""The tenant's servers change an account's identifiers."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.accounts.pinned import PINS, pinned, session, sign_in_with_pin
from tests.support.credentials.passkeys import passkey_holder
from tests.support.operation_cases.cases import account_holder
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

ADA, WORK, NEW = "ada@example.test", "ada@work.test", "ada@new.test"
PHONE, OTHER = "+442079460123", "+442079460199"
LOGIN = "/identity/v2/auth/login"
FORMER = "former-id"


@pytest.fixture
def server(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(phone_login=True, email_login=True, custom_uid=True, hide_unknown_accounts=False)


def entry(kind: str, value: str) -> dict[str, str]:
    return {"Type": kind, "Value": value}


def account(server: TenantServer, *entries: dict[str, str], **more: Any) -> str:
    addresses = [*entries] or [entry("Primary", ADA)]
    return str(server.create(Email=addresses, EmailVerified=True, **more)["Uid"])


def put(server: TenantServer, uid: str, member: str, body: Any, **query: Any) -> Any:
    return server.send("PUT", f"{MANAGE}/{uid}/{member}", body, **query)


def set_emails(server: TenantServer, uid: str, *entries: dict[str, str]) -> Any:
    return put(server, uid, "email", {"Email": [*entries]})


def signs_in(server: TenantServer, body: dict[str, str]) -> Any:
    return server.send("POST", LOGIN, {"password": PASSWORD, **body}, with_secret=False)


def notices(server: TenantServer) -> list[tuple[str, str]]:
    return [(mail["to"], mail["subject"]) for mail in sent_messages(server.services, server.tenant_id, "mail")]


class TestEmails:
    def test_type_replaces_and_new_type_adds(self, server: TenantServer) -> None:
        uid = account(server, entry("Primary", ADA), entry("Work", WORK))
        changed = answered(set_emails(server, uid, entry("work", NEW), entry("Home", "ada@home.test")))
        assert changed["Email"] == [entry("Primary", ADA), entry("work", NEW), entry("Home", "ada@home.test")]
        assert changed == server.read(uid)
        answered(signs_in(server, {"email": NEW}))
        assert refused(signs_in(server, {"email": WORK}))[1] == 938

    def test_new_primary_address_signs_in_verified(self, server: TenantServer) -> None:
        uid = account(server, entry("Primary", ADA), entry("Work", WORK))
        changed = answered(set_emails(server, uid, entry("Primary", NEW)))
        assert (changed["Email"][0], changed["EmailVerified"]) == (entry("Primary", NEW), True)
        answered(signs_in(server, {"email": NEW}))
        assert {to for to, _ in notices(server)} == {ADA}

    def test_account_without_address_gets_one(self, server: TenantServer) -> None:
        uid = server.create(Email=None, UserName="ada")["Uid"]
        changed = answered(set_emails(server, uid, entry("Work", WORK)))
        assert (changed["Email"][0]["Value"], changed["EmailVerified"]) == (WORK, True)

    def test_reset_link_to_former_address_is_closed(self, server: TenantServer) -> None:
        uid = account(server)
        token = answered(server.send("POST", f"{MANAGE}/forgot/token", {"email": ADA}))["ForgotToken"]
        answered(set_emails(server, uid, entry("Primary", NEW)))
        body = {"resettoken": token, "password": "An0ther-long-secret!"}
        assert refused(server.send("PUT", "/identity/v2/auth/password/reset", body, with_secret=False))[0] in (400, 403)

    @pytest.mark.parametrize(
        ("entries", "refusal"),
        [
            ([], (400, 1038)),
            ([entry("Primary", "ada")], (400, 1038)),
            ([entry("", NEW)], (400, 1201)),
            ([entry("Work", NEW), entry("Home", NEW.upper())], (400, 1202)),
            ([entry("Primary", NEW), entry("primary", WORK)], (400, 1203)),
            ([entry("Work", "grace@example.test")], (403, 936)),
            ([entry(f"Kind {number}", f"a{number}@example.test") for number in range(10)], (403, 1174)),
        ],
    )
    def test_bad_address_changes_nothing(
        self, server: TenantServer, entries: list[dict[str, str]], refusal: tuple[int, int]
    ) -> None:
        account(server, entry("Primary", "grace@example.test"))
        uid = account(server)
        before = server.read(uid)
        assert refused(set_emails(server, uid, *entries)) == refusal
        assert server.read(uid) == before

    @pytest.mark.both_databases
    def test_two_accounts_race_for_one_address(self, server: TenantServer) -> None:
        uids = [account(server, entry("Primary", f"{name}@example.test")) for name in ("ada", "grace")]
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda uid: set_emails(server, uid, entry("Work", WORK)), uids))
        assert sorted(answer.status_code for answer in answers) == [200, 403]

    def test_address_is_removed_and_the_next_is_primary(self, server: TenantServer) -> None:
        uid = account(server, entry("Primary", ADA), entry("Work", WORK))
        changed = answered(server.send("DELETE", f"{MANAGE}/{uid}/email", {"email": ADA}))
        assert changed["Email"] == [entry("Primary", WORK)]
        assert refused(server.send("DELETE", f"{MANAGE}/{uid}/email", {"email": ADA})) == (403, 1023)
        assert refused(server.send("DELETE", f"{MANAGE}/{uid}/email", {"email": WORK})) == (403, 1005)
        assert refused(server.send("DELETE", f"{MANAGE}/{uid}/email", {"email": "ada"})) == (400, 1038)
        assert server.read(uid)["Email"] == [entry("Primary", WORK)]


class TestPhone:
    def test_number_is_set_verified(self, server: TenantServer) -> None:
        uid = account(server, PhoneId=OTHER)
        changed = answered(put(server, uid, "phoneid", {"phone": "0044 20 7946 0123"}))
        assert (changed["PhoneId"], changed["PhoneIdVerified"]) == (PHONE, True)
        answered(signs_in(server, {"phone": PHONE}))

    def test_number_of_another_account_is_refused(self, server: TenantServer) -> None:
        answered(put(server, account(server), "phoneid", {"phone": PHONE}))
        uid = account(server, entry("Primary", WORK))
        assert refused(put(server, uid, "phoneid", {"phone": PHONE})) == (403, 1058)
        assert refused(put(server, uid, "phoneid", {"phone": "12"})) == (400, 1096)
        assert refused(put(server, uid, "phoneid", {})) == (400, 1096)
        assert server.read(uid)["PhoneId"] is None

    def test_invalidated_number_is_verified_again(self, server: TenantServer) -> None:
        uid = account(server)
        assert refused(put(server, uid, "invalidatephone", None)) == (403, 1147)
        answered(put(server, uid, "phoneid", {"phone": PHONE}))
        assert answered(put(server, uid, "invalidatephone", None)) == {"IsPosted": True}
        assert server.read(uid)["PhoneIdVerified"] is False
        assert refused(put(server, uid, "invalidatephone", None)) == (403, 1161)
        code = code_in(sent_messages(server.services, server.tenant_id, "sms")[-1])
        answered(server.send("PUT", "/identity/v2/auth/phone/otp", {"phone": PHONE}, with_secret=False, otp=code))
        assert server.read(uid)["PhoneIdVerified"] is True


class TestInvalidatedEmail:
    def test_address_is_unverified_and_gets_a_link(self, server: TenantServer) -> None:
        uid = account(server)
        assert answered(put(server, uid, "invalidateemail", None)) == {"IsPosted": True}
        assert server.read(uid)["EmailVerified"] is False
        assert [to for to, _ in notices(server)] == [ADA]
        assert refused(put(server, uid, "invalidateemail", None)) == (403, 1115)
        assert refused(signs_in(server, {"email": ADA}))[1] == 970

    def test_account_without_address_is_refused(self, server: TenantServer) -> None:
        uid = server.create(Email=None, UserName="ada")["Uid"]
        assert refused(put(server, uid, "invalidateemail", None)) == (403, 1113)

    def test_page_off_the_whitelist_changes_nothing(self, server: TenantServer) -> None:
        uid = account(server)
        refusal = refused(put(server, uid, "invalidateemail", None, verificationurl="https://evil.test/"))
        assert refusal == (403, 1249)
        assert server.read(uid)["EmailVerified"] is True


class TestUid:
    def test_account_keeps_its_session_under_a_new_id(self, server: TenantServer) -> None:
        uid = account(server)
        bearer = str(server.tokens(uid)["access_token"])
        assert answered(server.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=uid)) == {"IsPosted": True}
        changed = server.read("ada-1")
        assert (changed["PreviousUids"], changed["IsCustomUid"]) == ([uid], True)
        assert refused(server.send("GET", f"{MANAGE}/{uid}")) == (403, 984)
        own = answered(server.send("GET", "/identity/v2/auth/account", with_secret=False, bearer=bearer))
        assert own["Uid"] == "ada-1"
        answered(signs_in(server, {"email": ADA}))

    def test_pin_signs_in_after_a_new_id(self, new_tenant_server: NewTenantServer) -> None:
        ada = pinned(account_holder(new_tenant_server, custom_uid=True, **PINS))
        token = session(ada)
        answered(ada.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=ada.uid))
        assert answered(sign_in_with_pin(ada, token))["Profile"]["Uid"] == "ada-1"

    @pytest.mark.both_databases
    def test_passkey_signs_in_after_a_new_id(self, new_tenant_server: NewTenantServer) -> None:
        ada = passkey_holder(new_tenant_server, custom_uid=True).add_passkey()
        answered(ada.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=ada.uid))
        assert answered(ada.sign_in_by_autofill())["Profile"]["Uid"] == "ada-1"
        assert answered(ada.sign_in())["Profile"]["Uid"] == "ada-1"

    def test_account_returns_to_its_former_id(self, server: TenantServer) -> None:
        uid = account(server)
        for at, to in ((uid, "ada-1"), ("ada-1", "ada-2"), ("ada-2", "ada-1")):
            answered(server.send("PUT", f"{MANAGE}/uid", {"NewUid": to}, uid=at))
        assert server.read("ada-1")["PreviousUids"] == [uid, "ada-2"]

    @pytest.mark.parametrize("taken", ["grace", FORMER])
    def test_id_that_an_account_has_or_had_is_refused(self, server: TenantServer, taken: str) -> None:
        account(server, entry("Primary", "grace@example.test"), Uid=FORMER)
        answered(server.send("PUT", f"{MANAGE}/uid", {"NewUid": "grace"}, uid=FORMER))
        uid = account(server)
        assert refused(server.send("PUT", f"{MANAGE}/uid", {"NewUid": taken}, uid=uid)) == (403, 1044)
        assert server.read(uid)["Uid"] == uid

    @pytest.mark.parametrize("malformed", ["", "a b", "x" * 51, "../ada", "uid", "identities"])
    def test_malformed_or_reserved_id_is_refused(self, server: TenantServer, malformed: str) -> None:
        uid = account(server)
        assert refused(server.send("PUT", f"{MANAGE}/uid", {"NewUid": malformed}, uid=uid)) == (403, 1200)

    def test_tenant_without_custom_ids_refuses(self, acme: TenantServer) -> None:
        uid = acme.create()["Uid"]
        assert refused(acme.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=uid)) == (403, 1200)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("member", ["email", "phoneid", "invalidateemail", "invalidatephone"])
def test_account_of_another_tenant_is_unknown(server: TenantServer, acme: TenantServer, member: str) -> None:
    uid = acme.create()["Uid"]
    body = {"Email": [entry("Work", WORK)]} if member == "email" else {"phone": PHONE} if member == "phoneid" else None
    assert refused(put(server, uid, member, body)) == (403, 984)
    assert refused(server.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=uid)) == (403, 984)
