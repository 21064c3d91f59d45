"""An attacker who registered another person's address keeps no access once the owner verifies it."""

from __future__ import annotations

import pyotp
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.support.accounts.consents import consent_answers, required_forms
from tests.support.accounts.customers import NEW, OLD, PATH
from tests.support.accounts.mailbox import link_in, path_of, token_in
from tests.support.accounts.registering import register
from tests.support.credentials.devices import registration_address, with_push
from tests.support.credentials.factors import LOGIN_2FA, second_factor_holder
from tests.support.credentials.passkeys import A, PasskeyHolder, passkey_holder
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

VICTIM = "grace@example.test"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


def preregistered(make: NewTenantServer, **settings: object) -> tuple[PasskeyHolder, TestResponse]:
    """Register another person's address with a passkey; return the attacker and the response."""
    eve = passkey_holder(make, email_verification="optional", passwordless_email=True, **settings)
    eve.email = VICTIM
    options = eve.begins(f"{A}/register/passkey/begin", identifier=VICTIM)
    body = {"PasskeyCredential": eve.device.makes(options)}
    return eve, eve.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False)


def owner_signs_in(eve: PasskeyHolder) -> None:
    """Sign the owner in by a mailed link, which verifies the address for the first time."""
    answered(eve.call("U49", email=VICTIM))
    answer = eve.call("U50", verificationtoken=token_in(eve.mailed()))
    assert answer.status_code == 200 or refused(answer) == (403, 1226), answer.text


def test_preregistered_passkey_ends_at_first_mailbox_login(
    new_tenant_server: NewTenantServer,
) -> None:
    eve, _ = preregistered(new_tenant_server)
    assert answered(eve.sign_in_by_autofill())["Profile"]["Email"][0]["Value"] == VICTIM
    owner_signs_in(eve)
    assert refused(eve.sign_in_by_autofill()) == (403, 1323)


def test_mailbox_login_ends_pending_consent_of_others(new_tenant_server: NewTenantServer) -> None:
    eve, pending = preregistered(new_tenant_server, **required_forms("FirstLogin"))
    assert refused(pending) == (403, 1226)
    owner_signs_in(eve)
    token = pending.get_json()["Data"]["ConsentToken"]
    assert refused(eve.call("U83", consent_answers("FirstLogin"), consenttoken=token)) == (403, 1229)


def test_each_sign_in_gets_its_own_totp_secret(new_tenant_server: NewTenantServer) -> None:
    """An attacker who knows the password may start enrolment; the owner must not scan the attacker's TOTP secret."""
    ada = second_factor_holder(new_tenant_server, two_factor="required")
    first_secret, second_secret = ada.challenged(), ada.challenged()
    assert first_secret["ManualEntryCode"] != second_secret["ManualEntryCode"]
    ada.app = pyotp.TOTP(first_secret["ManualEntryCode"])
    assert refused(ada.shows_code(ada.shows(), second_secret["SecondFactorAuthenticationToken"])) == (403, 1102)
    ada.app = pyotp.TOTP(second_secret["ManualEntryCode"])
    assert answered(ada.shows_code(ada.shows(), second_secret["SecondFactorAuthenticationToken"]))["Profile"]
    ada.app = pyotp.TOTP(first_secret["ManualEntryCode"])
    assert refused(ada.shows_code(ada.shows(), first_secret["SecondFactorAuthenticationToken"])) == (403, 1102)


def test_new_password_ends_begun_enrolments(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server)
    first_secret = ada.own_factors()
    assert ada.own_factors()["ManualEntryCode"] == first_secret["ManualEntryCode"], (
        "a reloaded page shows the same secret"
    )
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    ada.stored_token = ""
    assert ada.own_factors()["ManualEntryCode"] != first_secret["ManualEntryCode"]
    assert refused(phone.scan(registration_address(first_secret["PushQRCode"]))) == (403, 1296)


def claimed_account(make: NewTenantServer) -> PasskeyHolder:
    """Return an account that was registered and verified, enrolled a passkey as second factor and reset its password."""
    ada = passkey_holder(make, two_factor="optional", email_verification="required")
    ada.email = VICTIM
    answered(register(ada.tenant, VICTIM))
    answered(ada.tenant.send("GET", f"{A}/email", with_secret=False, verificationtoken=token_in(ada.mailed())))
    ada.stored_token = str(answered(ada.signs_in())["access_token"])
    ada.enrols_passkey()
    assert answered(ada.sign_in_by_autofill())["Profile"]
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    return ada


def test_claiming_reset_does_not_bypass_passkey(new_tenant_server: NewTenantServer) -> None:
    """Registrant and mailbox owner may be two persons: a password reset does not bypass the second factor."""
    ada = claimed_account(new_tenant_server)
    body = {"email": VICTIM, "password": NEW}
    challenge = answered(ada.ask("POST", body, path=LOGIN_2FA))["SecondFactorAuthentication"]
    assert challenge["IsPasskeyAuthenticatorVerified"] is True
    assert refused(ada.sign_in_by_autofill()) == (403, 1321), "the passkey may be an attacker's"
    token = challenge["SecondFactorAuthenticationToken"]
    assert answered(ada.answers(token))["Profile"]
    assert answered(ada.sign_in_by_autofill())["Profile"], "password and passkey belong to one person"


@pytest.mark.parametrize("two_factor", ["disabled", "required"])
def test_security_alert_reset_removes_earlier_passkey(
    new_tenant_server: NewTenantServer, hub_app: Flask, two_factor: str
) -> None:
    """The passkey was added before the password changed; the owner opens the newest security alert."""
    ada = passkey_holder(new_tenant_server, two_factor=two_factor).add_passkey()
    assert answered(ada.sign_in_by_autofill())["Profile"]
    ada.advance_clock(minutes=10)
    answered(ada.ask("PUT", {"oldpassword": OLD, "newpassword": NEW}, path=f"{PATH}/change", access_token=ada.bearer))
    path = path_of(link_in(ada.mailed()))
    owner = Visitor(PlainClient(hub_app), ada.tenant.services.settings.hub_url(ada.tenant.name))
    owner.open(path).press("Secure my account")
    assert refused(ada.sign_in_by_autofill())[0] == 403
    answered(ada.reset(resettoken=ada.issued_token(), password="Amber-window-44"))
    body = {"email": ada.email, "password": "Amber-window-44"}
    if two_factor == "required":  # the mailbox alone does not pass the second factor
        challenge = answered(ada.ask("POST", body, path=LOGIN_2FA))["SecondFactorAuthentication"]
        assert challenge["IsPasskeyAuthenticatorVerified"] is True
        assert answered(ada.answers(challenge["SecondFactorAuthenticationToken"]))["Profile"]
