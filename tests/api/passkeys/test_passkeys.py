"""Passkeys in place of a password: registration, sign-in, second factor, replacement."""

from __future__ import annotations

import pytest

from tests.support.accounts.customers import OLD
from tests.support.accounts.mailbox import links_to, sent_messages, token_in
from tests.support.credentials.factors import LOGIN_2FA, OWN_2FA
from tests.support.credentials.passkeys import LOGIN, OWN, A, PasskeyHolder, origin_of, passkey_holder
from tests.support.credentials.software_authenticator import Authenticator, from_base64url, to_base64url
from tests.support.races import RACERS, at_once
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    return passkey_holder(new_tenant_server)


def test_creation_options_follow_interface(ada: PasskeyHolder) -> None:
    options = ada.begins(f"{OWN}/register/passkey/begin", own=True)
    host = origin_of(ada.tenant).partition("://")[2].partition(":")[0]
    assert options["rp"] == {"id": host, "name": ada.tenant.name.title()}
    assert from_base64url(options["user"]["id"]).decode() == ada.uid
    assert options["user"]["name"] == ada.email
    assert len(from_base64url(options["challenge"])) == 32
    assert [option["alg"] for option in options["pubKeyCredParams"]] == [-7, -257]
    assert (options["timeout"], options["attestation"]) == (60_000, "none")


def test_passkey_signs_in_by_identifier_and_by_autofill(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    for login in (answered(ada.sign_in()), answered(ada.sign_in_by_autofill())):
        assert login["Profile"]["Uid"] == ada.uid
        assert login["SecondFactorAuthentication"] is None
    assert "allowCredentials" not in ada.begins(f"{LOGIN}/autofill/begin")


def test_passkeys_are_listed_and_removed(ada: PasskeyHolder) -> None:
    ada.add_passkey().add_passkey()
    first, second = ada.listed()
    assert (first["Authenticator"], first["Identifier"]) == ("Apple Passwords", ada.email)
    assert len(first["Id"]) == 32
    answered(ada.tenant.send("DELETE", f"{OWN}/passkey/{first['Id']}", bearer=ada.bearer))
    assert ada.listed() == [second]
    gone = ada.device.passkeys[0]
    assert refused(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), gone))) == (403, 1321)


def test_passkey_with_user_verification_counts_as_two_factors(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, two_factor="required")
    login = answered(ada.add_passkey().sign_in())
    assert login["Profile"]["Uid"] == ada.uid


def test_passkey_without_user_verification_is_one_factor(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, two_factor="optional").add_passkey()
    ada.device.verifies = False
    assert answered(ada.sign_in())["Profile"]
    ada.enrols()
    assert refused(ada.sign_in()) == (403, 1321)
    ada.device.verifies = True
    assert answered(ada.sign_in())["Profile"]


def test_required_second_factor_after_password_is_the_passkey(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = passkey_holder(new_tenant_server, two_factor="required").add_passkey()
    challenge = ada.challenged()
    assert challenge["IsPasskeyAuthenticatorVerified"] is True
    token = challenge["SecondFactorAuthenticationToken"]
    assert challenge["ManualEntryCode"] is None, "the password alone enrols no other factor"
    thief = ada.tenant.send(
        "GET", f"{LOGIN_2FA}/register/passkey/begin", with_secret=False, secondfactorauthenticationtoken=token
    )
    assert refused(thief) == (403, 1258)
    assert answered(ada.answers(token))["Profile"]["Uid"] == ada.uid


def test_optional_second_factor_lets_password_alone_sign_in(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, two_factor="optional").add_passkey()
    assert answered(ada.signs_in())["SecondFactorAuthentication"] is None


@pytest.mark.both_databases
def test_decreasing_counter_is_refused_and_audited(ada: PasskeyHolder) -> None:
    ada.device.counts, ada.device.is_synced = True, False
    ada.add_passkey()
    assert answered(ada.sign_in())["Profile"]
    assert refused(ada.sign_in(counter=1)) == (403, 1321)
    assert refused(ada.sign_in(counter=0)) == (403, 1321)
    assert len(entries_of(ada.tenant, "passkey.counter_went_back")) == 2
    assert answered(ada.sign_in())["Profile"]


@pytest.mark.both_databases
def test_decreasing_counter_of_synced_key_is_a_signal(new_tenant_server: NewTenantServer) -> None:
    """The copies of a synced key count apart: at sign-in, by autofill, and as second factor and step-up, which verify alike."""
    ada = passkey_holder(new_tenant_server, two_factor="required").add_passkey()
    assert answered(ada.sign_in(counter=7))["Profile"]
    assert answered(ada.sign_in(counter=2))["Profile"]
    assert answered(ada.sign_in_by_autofill(counter=0))["Profile"]
    assert answered(ada.answers(ada.challenged()["SecondFactorAuthenticationToken"], counter=7))["Profile"]
    assert answered(ada.sign_in(counter=8))["Profile"]
    signals = entries_of(ada.tenant, "passkey.counter_went_back")
    assert [uid for uid, _ in signals] == [ada.uid] * 3
    assert refused(ada.sign_in(counter=1, signature=b"x")) == (403, 1321)
    assert len(entries_of(ada.tenant, "passkey.counter_went_back")) == 3, "only a right signature is a signal"


FORGED_ASSERTIONS = {
    "origin": {"origin": "https://evil.example"},
    "site": {"rp_id": "evil.example"},
    "type": {"kind": "webauthn.create"},
    "challenge": {"challenge": to_base64url(b"x" * 32)},
    "signature": {"signature": b"x"},
    "no user presence": {"flags": 0x04 | 0x08 | 0x10},
    "another backup eligibility": {"flags": 0x05},
    "short data": {"data": b"x" * 20},
    "another handle": {"handle": to_base64url(b"0" * 32)},
    "an unknown id": {"raw_id": b"absent"},
    "no JSON": {"client": b"\xff{"},
    "JSON that is no object": {"client": b"[1]"},
    "deep JSON": {"client": b"[" * 5_000},
}


@pytest.mark.parametrize("members", FORGED_ASSERTIONS.values(), ids=FORGED_ASSERTIONS)
def test_forged_assertion_is_refused_and_audited(ada: PasskeyHolder, members: dict[str, object]) -> None:
    assert refused(ada.add_passkey().sign_in(**members)) == (403, 1321)
    ((uid, facts),) = entries_of(ada.tenant, "passkey.refused")
    assert uid == (None if facts["reason"] in ("challenge", "unknown") else ada.uid)


FORGED_ATTESTATIONS = {
    "origin": {"origin": "https://evil.example"},
    "site": {"rp_id": "evil.example"},
    "type": {"kind": "webauthn.get"},
    "truncated CBOR": {"attestation": b"\xa3cfmtdnone"},
    "deep CBOR": {"attestation": b"\x81" * 20_000},
    "no CBOR": {"attestation": b"\xff"},
    "a key of no curve": {"key": b"\xa0"},
    "an empty id": {"raw_id": b""},
    "an id without end": {"raw_id": b"x" * 1_100},
    "no user presence": {"flags": 0x44},
}


@pytest.mark.parametrize("members", FORGED_ATTESTATIONS.values(), ids=FORGED_ATTESTATIONS)
def test_forged_attestation_is_not_stored(ada: PasskeyHolder, members: dict[str, object]) -> None:
    assert refused(ada.adds(**members)) == (403, 1321)
    assert refused(ada.tenant.send("GET", f"{OWN}/passkey", bearer=ada.bearer)) == (403, 1323)


def test_challenge_is_used_once_and_expires_after_five_minutes(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    shown = ada.device.shows(ada.asks_sign_in())
    answered(ada.gives(f"{LOGIN}/finish", shown))
    assert refused(ada.gives(f"{LOGIN}/finish", shown)) == (403, 1321)
    expired = ada.device.shows(ada.asks_sign_in())
    ada.advance_clock(minutes=5)
    assert refused(ada.gives(f"{LOGIN}/finish", expired)) == (403, 1321)


def test_challenge_is_bound_to_its_ceremony(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    assert refused(ada.gives(f"{LOGIN}/autofill/finish", ada.device.shows(ada.asks_sign_in()))) == (403, 1321)
    autofill = ada.device.shows(ada.begins(f"{LOGIN}/autofill/begin"))
    assert refused(ada.gives(f"{LOGIN}/finish", autofill)) == (403, 1321)
    factor = ada.device.makes(ada.begins(f"{OWN_2FA}/register/passkey/begin", own=True))
    assert refused(ada.gives(f"{OWN}/register/passkey/finish", factor, own=True)) == (403, 1321)


def test_passkey_of_another_account_is_refused(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    made = ada.tenant.create(Password=OLD, EmailVerified=True)
    bob = PasskeyHolder(ada.tenant, made["Uid"], made["Email"][0]["Value"], "", device=ada.device).add_passkey()
    shown = bob.device.shows(ada.asks_sign_in(), bob.device.passkeys[1])
    assert refused(bob.gives(f"{LOGIN}/finish", shown)) == (403, 1321)


@pytest.mark.both_databases
def test_passkey_of_another_tenant_is_refused(ada: PasskeyHolder, new_tenant_server: NewTenantServer) -> None:
    ada.add_passkey()
    bob = passkey_holder(new_tenant_server).add_passkey()
    bob.device.passkeys = ada.device.passkeys
    assert refused(bob.sign_in_by_autofill(rp_id=ada.device.passkeys[0].rp_id)) == (403, 1321)
    assert refused(bob.sign_in_by_autofill()) == (403, 1321)


def test_related_origin_may_use_passkeys(new_tenant_server: NewTenantServer) -> None:
    other = "https://login.shop.example"
    ada = passkey_holder(new_tenant_server, passkey_settings={"related_origins": [other]}).add_passkey()
    assert answered(ada.sign_in(origin=other))["Profile"]


def test_related_origin_is_compared_as_browsers_write_it(
    new_tenant_server: NewTenantServer, subtests: pytest.Subtests
) -> None:
    ada = passkey_holder(
        new_tenant_server, passkey_settings={"related_origins": ["https://Shop.example:443", "https://Bücher.example"]}
    ).add_passkey()
    for origin in (
        "null",
        "",
        "https://Shop.example:443",
        "https://shop.example:443",
        "https://shop.example/",
        "https://shop.example/x",
    ):
        with subtests.test(origin):
            assert refused(ada.sign_in(origin=origin)) == (403, 1321)
    assert answered(ada.sign_in(origin="https://shop.example"))["Profile"]
    assert answered(ada.sign_in(origin="https://xn--bcher-kva.example"))["Profile"]


@pytest.mark.both_databases
def test_parallel_uses_of_one_assertion_succeed_once(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    shown = ada.device.shows(ada.asks_sign_in())
    answers = at_once([lambda: ada.gives(f"{LOGIN}/finish", shown).status_code] * RACERS)
    assert (answers.count(200), answers.count(403)) == (1, RACERS - 1)


@pytest.mark.both_databases
def test_parallel_registrations_of_one_attestation_succeed_once(ada: PasskeyHolder) -> None:
    path = f"{OWN}/register/passkey"
    made = ada.device.makes(ada.begins(f"{path}/begin", own=True))
    answers = at_once([lambda: ada.gives(f"{path}/finish", made, own=True).status_code] * RACERS)
    assert (answers.count(200), answers.count(403)) == (1, RACERS - 1)


@pytest.mark.both_databases
def test_parallel_registrations_of_one_id_succeed_once(new_tenant_server: NewTenantServer) -> None:
    """One account registers it for sign-in, the other as second factor: a credential id belongs to one account."""
    ada = passkey_holder(new_tenant_server, two_factor="optional")
    made = ada.tenant.create(Password=OLD, EmailVerified=True)
    eve = PasskeyHolder(ada.tenant, made["Uid"], made["Email"][0]["Value"], "", device=ada.device)
    registrations = ((ada, f"{OWN}/register/passkey"), (eve, f"{OWN_2FA}/register/passkey"))
    ids = [
        ada.device.makes(who.begins(f"{at}/begin", own=True), raw_id=b"one id for the two") for who, at in registrations
    ]
    acts = [
        lambda who=who, at=at, made=made: who.gives(f"{at}/finish", made, own=True).status_code
        for (who, at), made in zip(registrations, ids, strict=True)
    ]
    assert sorted(at_once(acts)) == [200, 403]


def test_hidden_accounts_all_seem_to_have_passkeys(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, hide_unknown_accounts=True)
    without_passkey = ada.asks_sign_in()
    ada.add_passkey().add_passkey()
    with_passkey, unknown = ada.asks_sign_in(), ada.asks_sign_in(identifier="absent@example.test")
    assert set(with_passkey) == set(unknown) == set(without_passkey)
    for item in (with_passkey, unknown, without_passkey):
        assert [named | {"id": ""} for named in item["allowCredentials"]] == [
            {"type": "public-key", "id": "", "transports": []}
        ] * 3
    unknown_again = ada.asks_sign_in(identifier="ABSENT@example.test")
    assert unknown_again["allowCredentials"] == unknown["allowCredentials"]
    assert ada.asks_sign_in(identifier="noone@example.test")["allowCredentials"] != unknown["allowCredentials"]
    assert answered(ada.sign_in())["Profile"]


def test_added_passkey_is_notified_with_revert_link(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    notice = ada.mailed()
    assert notice["subject"].startswith("A passkey was created")
    assert links_to(notice, "/not-me")


def test_account_registers_with_passkey_instead_of_password(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, email_verification="optional")
    ada.email = "Grace@example.test"
    options = ada.begins(f"{A}/register/passkey/begin", identifier=ada.email)
    body = {"FirstName": "Grace", "PasskeyCredential": ada.device.makes(options)}
    made = answered(ada.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False))
    profile = made["Data"]["Profile"]
    assert from_base64url(options["user"]["id"]).decode() == profile["Uid"]
    assert answered(ada.sign_in())["Profile"]["FirstName"] == "Grace"
    assert refused(ada.tenant.send("POST", f"{A}/login", {"email": ada.email, "password": ""}))[0] in (401, 403, 400)


def test_registered_passkey_signs_in_after_email_verification(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server)
    ada.email = "grace@example.test"
    options = ada.begins(f"{A}/register/passkey/begin", identifier=ada.email)
    body = {"PasskeyCredential": ada.device.makes(options)}
    assert answered(ada.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False))["Data"] is None
    shown = ada.device.shows(ada.begins(f"{LOGIN}/autofill/begin"))
    assert refused(ada.gives(f"{LOGIN}/autofill/finish", shown)) == (403, 970)
    token = token_in(ada.mailed())
    answered(ada.tenant.send("GET", f"{A}/email", with_secret=False, verificationtoken=token))
    assert answered(ada.sign_in())["Profile"]["EmailVerified"] is True


def test_hidden_accounts_make_passkey_registrations_look_alike(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = passkey_holder(new_tenant_server, hide_unknown_accounts=True)
    answers = []
    for email in (ada.email, "absent@example.test"):
        options = ada.begins(f"{A}/register/passkey/begin", identifier=email)
        body = {"PasskeyCredential": ada.device.makes(options)}
        answers.append(answered(ada.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False)))
    assert answers[0] == answers[1] == {"IsPosted": True, "Data": None}
    for made in ada.device.passkeys:
        shown = ada.device.shows(ada.begins(f"{LOGIN}/autofill/begin"), made)
        assert refused(ada.gives(f"{LOGIN}/autofill/finish", shown)) == (403, 1321)
    subjects = [
        message["subject"]
        for message in sent_messages(ada.tenant.services, ada.tenant.tenant_id)
        if message["to"] == ada.email
    ]
    assert len(subjects) == 1


def test_password_reset_removes_passkey_of_unverified_account(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server)
    ada.email = "grace@example.test"
    options = ada.begins(f"{A}/register/passkey/begin", identifier=ada.email)
    body = {"PasskeyCredential": ada.device.makes(options), "Password": OLD}
    answered(ada.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False))
    answered(ada.tenant.send("POST", f"{A}/password", {"email": ada.email}, with_secret=False))
    token = token_in(ada.mailed())
    new = {"resettoken": token, "password": "Quartz-kettle-77"}
    answered(ada.tenant.send("PUT", f"{A}/password", new, with_secret=False))
    assert refused(ada.sign_in_by_autofill()) == (403, 1323)


@pytest.mark.both_databases
def test_passkey_reset_removes_credentials_of_attacker(
    new_tenant_server: NewTenantServer,
) -> None:
    ada = passkey_holder(new_tenant_server)
    ada.email = "grace@example.test"
    options = ada.begins(f"{A}/register/passkey/begin", identifier=ada.email)
    body = {"PasskeyCredential": ada.device.makes(options), "Password": OLD}
    answered(ada.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False))
    token = token_in(ada.mailed())
    answered(ada.tenant.send("GET", f"{A}/email", with_secret=False, verificationtoken=token))
    attacker_device, ada.device = ada.device, Authenticator(ada.device.origin)
    answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email}, with_secret=False))
    token = token_in(ada.mailed())
    answered(
        ada.gives(
            f"{A}/passkey/reset/finish",
            ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token)),
            vtoken=token,
        )
    )
    assert refused(ada.tenant.send("POST", f"{A}/login", {"email": ada.email, "password": OLD}))[0] == 401
    shown = attacker_device.shows(ada.begins(f"{LOGIN}/autofill/begin"), attacker_device.passkeys[0])
    assert refused(ada.gives(f"{LOGIN}/autofill/finish", shown)) == (403, 1321)
    answered(ada.sign_in())


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("is_hidden", [False, True])
def test_parallel_registrations_with_one_passkey_succeed_once(
    new_tenant_server: NewTenantServer, is_hidden: bool
) -> None:
    ada = passkey_holder(
        new_tenant_server, hide_unknown_accounts=is_hidden, limits={"register_per_minute_per_address": 0}
    )
    ada.email = "grace@example.test"
    body = {"PasskeyCredential": ada.device.makes(ada.begins(f"{A}/register/passkey/begin", identifier=ada.email))}
    path = f"{A}/register/passkey/finish"
    answers = at_once([lambda: ada.tenant.send("POST", path, body, with_secret=False)] * 12)
    assert sorted(answer.status_code for answer in answers) == [200] + [403] * 11
    assert (
        len(
            [
                message
                for message in sent_messages(ada.tenant.services, ada.tenant.tenant_id)
                if message["to"] == ada.email
            ]
        )
        == 1
    )
