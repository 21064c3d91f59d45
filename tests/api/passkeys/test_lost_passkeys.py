"""A lost passkey is replaced by a link in a mail."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import sent_messages, token_in
from tests.support.credentials.factors import LOGIN_2FA
from tests.support.credentials.passkeys import LOGIN, OWN, A, PasskeyHolder, passkey_holder
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused

WORK = "ada@work.example"


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    return passkey_holder(new_tenant_server)


def test_lost_passkey_is_replaced_by_emailed_link(ada: PasskeyHolder) -> None:
    ada.add_passkey()
    answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email.upper()}, with_secret=False))
    token = token_in(ada.mailed())
    for _ in range(2):  # reading the options does not spend the link
        options = ada.begins(f"{A}/passkey/reset/begin", vtoken=token)
    made = ada.device.makes(options)
    answered(ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token))
    assert refused(ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token)) == (403, 974)
    lost, new = ada.device.passkeys
    assert refused(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), lost))) == (403, 1321)
    assert answered(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), new)))["Profile"]
    assert refused(ada.tenant.send("GET", f"{OWN}/passkey", bearer=ada.bearer))[0] == 401, "every session ended"


def test_link_goes_to_the_account_address_that_was_named(ada: PasskeyHolder) -> None:
    """It goes to the address as the account holds it, because another spelling may be another mailbox."""
    ada.add_passkey()
    stored = [{"Type": "Primary", "Value": ada.email}, {"Type": "Work", "Value": WORK}]
    answered(ada.tenant.send("PUT", f"{MANAGE}/{ada.uid}/email", {"Email": stored}))
    for named in (WORK, ada.email):
        answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": named.upper()}, with_secret=False))
        assert sent_messages(ada.tenant.services, ada.tenant.tenant_id)[-1]["to"] == named


def test_lost_passkey_needs_captcha_where_tenant_requires_it(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, captcha_at=["forgot_password"]).add_passkey()
    answer = ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email}, with_secret=False)
    assert refused(answer) == (403, 982)


def test_emailed_link_does_not_replace_second_factor(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, two_factor="optional").add_passkey()
    ada.enrols()
    answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email}, with_secret=False))
    token = token_in(ada.mailed())
    made = ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token))
    answered(ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token))
    challenge = answered(ada.sign_in())["SecondFactorAuthentication"]
    assert challenge["IsAuthenticatorVerified"] is True
    code = ada.next_code()
    assert answered(ada.shows_code(code, challenge["SecondFactorAuthenticationToken"]))["Profile"]


@pytest.mark.both_databases
def test_emailed_link_keeps_passkey_that_is_only_second_factor(new_tenant_server: NewTenantServer) -> None:
    """Otherwise the mailbox alone would open the account and could enrol another factor."""
    ada = passkey_holder(new_tenant_server, two_factor="required").add_passkey()
    answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email}, with_secret=False))
    token = token_in(ada.mailed())
    made = ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token))
    answered(ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token))
    old, new = ada.device.passkeys
    assert refused(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), old))) == (403, 1321), (
        "the old passkey alone is refused"
    )
    challenge = answered(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), new)))
    challenge_token = challenge["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
    enrolment = ada.tenant.send(
        "GET", f"{LOGIN_2FA}/register/passkey/begin", with_secret=False, secondfactorauthenticationtoken=challenge_token
    )
    assert refused(enrolment) == (403, 1258), "no other factor is enrolled"
    assert refused(ada.shows_code("000000", challenge_token))[0] == 403
    assert answered(ada.answers(challenge_token, passkey=old))["Profile"]
    assert answered(ada.gives(f"{LOGIN}/finish", ada.device.shows(ada.asks_sign_in(), old)))["Profile"], (
        "the old passkey is restored"
    )
