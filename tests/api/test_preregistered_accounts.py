"""Whoever used an account before its owner claimed it keeps no way in: no passkey, no sign-in half done, nothing that was begun."""

from __future__ import annotations

from urllib.parse import urlsplit

import pyotp
import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from tests.support.consents import asked, given
from tests.support.customers import NEW, OLD, PATH
from tests.support.devices import registration_address, with_push
from tests.support.factors import LOGIN_2FA, second_factor_holder
from tests.support.mailbox import link_in, token_in
from tests.support.passkeys import A, PasskeyHolder, passkey_holder
from tests.support.registering import register
from tests.support.tenant_server import NewTenantServer, answered, refused
from tests.support.visitor import Visitor

VICTIM = "grace@example.test"
pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


def strange(make: NewTenantServer, **settings: object) -> tuple[PasskeyHolder, TestResponse]:
    """Somebody who registered the address of another with a passkey, and what they were answered."""
    eve = passkey_holder(make, email_verification="optional", passwordless_email=True, **settings)
    eve.email = VICTIM
    options = eve.begins(f"{A}/register/passkey/begin", identifier=VICTIM)
    body = {"PasskeyCredential": eve.device.makes(options)}
    return eve, eve.tenant.send("POST", f"{A}/register/passkey/finish", body, with_secret=False)


def owner_comes(eve: PasskeyHolder) -> None:
    """The mailbox signs in by a link, which is its first proof."""
    answered(eve.call("U49", email=VICTIM))
    answer = eve.call("U50", verificationtoken=token_in(eve.mailed()))
    assert answer.status_code == 200 or refused(answer) == (403, 1226), answer.text


def test_preregistered_passkey_ends_at_first_mailbox_login(
    new_tenant_server: NewTenantServer,
) -> None:
    eve, _ = strange(new_tenant_server)
    assert answered(eve.is_offered())["Profile"]["Email"][0]["Value"] == VICTIM
    owner_comes(eve)
    assert refused(eve.is_offered()) == (403, 1323)


def test_mailbox_login_ends_pending_consent_of_others(new_tenant_server: NewTenantServer) -> None:
    eve, waits = strange(new_tenant_server, **asked("FirstLogin"))
    assert refused(waits) == (403, 1226)
    owner_comes(eve)
    token = waits.get_json()["Data"]["ConsentToken"]
    assert refused(eve.call("U83", given("FirstLogin"), consenttoken=token)) == (403, 1229)


def test_each_sign_in_gets_its_own_totp_secret(new_tenant_server: NewTenantServer) -> None:
    """Whoever has the password alone may begin; the owner who goes on must not put the thief's seed into the app."""
    ada = second_factor_holder(new_tenant_server, two_factor="required")
    seen, own = ada.challenged(), ada.challenged()
    assert seen["ManualEntryCode"] != own["ManualEntryCode"]
    ada.app = pyotp.TOTP(seen["ManualEntryCode"])
    assert refused(ada.shows_code(ada.shows(), own["SecondFactorAuthenticationToken"])) == (403, 1102)
    ada.app = pyotp.TOTP(own["ManualEntryCode"])
    assert answered(ada.shows_code(ada.shows(), own["SecondFactorAuthenticationToken"]))["Profile"]
    ada.app = pyotp.TOTP(seen["ManualEntryCode"])
    assert refused(ada.shows_code(ada.shows(), seen["SecondFactorAuthenticationToken"])) == (403, 1102)


def test_new_password_ends_begun_enrolments(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server)
    seen = ada.own_factors()
    assert ada.own_factors()["ManualEntryCode"] == seen["ManualEntryCode"], "pages are reloaded"
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    ada.held = ""
    assert ada.own_factors()["ManualEntryCode"] != seen["ManualEntryCode"]
    assert refused(phone.scan(registration_address(seen["PushQRCode"]))) == (403, 1296)


def claimed(make: NewTenantServer) -> PasskeyHolder:
    """Somebody who registered, confirmed the address elsewhere, enrolled a passkey as second factor, and reset the password."""
    ada = passkey_holder(make, two_factor="optional", email_verification="required")
    ada.email = VICTIM
    answered(register(ada.tenant, VICTIM))
    answered(ada.tenant.send("GET", f"{A}/email", with_secret=False, verificationtoken=token_in(ada.mailed())))
    ada.held = str(answered(ada.signs_in())["access_token"])
    ada.enrols_passkey()
    assert answered(ada.is_offered())["Profile"]
    answered(ada.reset(resettoken=ada.issued_token(), password=NEW))
    return ada


def test_claiming_reset_does_not_bypass_passkey(new_tenant_server: NewTenantServer) -> None:
    """Confirmed on a telephone, it may be two people's: the one of the mailbox must not get past the second factor."""
    ada = claimed(new_tenant_server)
    body = {"email": VICTIM, "password": NEW}
    challenge = answered(ada.ask("POST", body, path=LOGIN_2FA))["SecondFactorAuthentication"]
    assert challenge["IsPasskeyAuthenticatorVerified"] is True
    assert refused(ada.is_offered()) == (403, 1321), "it may be a stranger's"
    token = challenge["SecondFactorAuthenticationToken"]
    assert answered(ada.answers(token))["Profile"]
    assert answered(ada.is_offered())["Profile"], "one person has both"


@pytest.mark.parametrize("two_factor", ["disabled", "required"])
def test_security_alert_reset_removes_earlier_passkey(
    new_tenant_server: NewTenantServer, hub_app: Flask, two_factor: str
) -> None:
    """Added first, it has an alarm of its own; the newest mail is the one that people open."""
    ada = passkey_holder(new_tenant_server, two_factor=two_factor).has_passkey()
    assert answered(ada.is_offered())["Profile"]
    ada.waits(minutes=10)
    answered(ada.ask("PUT", {"oldpassword": OLD, "newpassword": NEW}, path=f"{PATH}/change", access_token=ada.bearer))
    parts = urlsplit(link_in(ada.mailed()))
    owner = Visitor(Client(hub_app), ada.tenant.services.settings.hub_url(ada.tenant.name))
    owner.open(f"{parts.path}?{parts.query}").press("It was not me: close the account to others")
    assert refused(ada.is_offered())[0] == 403
    answered(ada.reset(resettoken=ada.issued_token(), password="Amber-window-44"))
    body = {"email": ada.email, "password": "Amber-window-44"}
    if two_factor == "required":  # the mailbox does not get past it either
        challenge = answered(ada.ask("POST", body, path=LOGIN_2FA))["SecondFactorAuthentication"]
        assert challenge["IsPasskeyAuthenticatorVerified"] is True
        assert answered(ada.answers(challenge["SecondFactorAuthenticationToken"]))["Profile"]
