"""An address belongs to an account only once verified; its owner inherits no access of an earlier registrant."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.protocols.oauth.claims import account_claims
from tests.support.accounts.mailbox import code_in, mails_to, token_in
from tests.support.accounts.registering import ADA, UNLIMITED, primary, register
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

OWN, EMAIL, LOGIN = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/login"
FORGOT = "/identity/v2/auth/password"
CFO, EVE = "cfo5@corp.test", "x5@evil.test"
TWO = [{"Type": "Primary", "Value": EVE}, {"Type": "Secondary", "Value": CFO}]
OTHER = "Teapot-zebra-17"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED, email_login=True, email_verification="optional", phone_login=True)


def token_of(acme: TenantServer, to: str) -> str:
    return token_in(mails_to(acme.services, acme.tenant_id, to)[-1])


def verify(acme: TenantServer, address: str) -> Any:
    return acme.send("GET", EMAIL, with_secret=False, verificationtoken=token_of(acme, address))


def registered_token(acme: TenantServer, email: str | None = None, **members: Any) -> str:
    return str(answered(register(acme, email, **members))["Data"]["access_token"])


def test_unverified_address_never_counts_as_account_address(acme: TenantServer) -> None:
    token = registered_token(acme, UserName="eve")
    profile = answered(acme.send("PUT", OWN, {"Email": TWO}, bearer=token))["Data"]
    assert (profile["Email"], profile["EmailVerified"]) == ([], False)
    assert [entry["Value"] for entry in profile["UnverifiedEmail"]] == [EVE, CFO]
    assert refused(acme.send("GET", MANAGE, email=CFO))[0] == 403
    answered(acme.send("DELETE", EMAIL, {"email": EVE}, bearer=token))
    profile = answered(acme.send("GET", OWN, bearer=token))
    assert (profile["Email"], profile["EmailVerified"]) == ([], False)
    email_claims = {name: claim(profile) for name, claim in account_claims.SCOPES["email"].items()}
    assert not email_claims["email"]
    assert not email_claims["email_verified"]


def test_second_address_of_registration_stays_unverified(acme: TenantServer) -> None:
    token = registered_token(acme, Email=TWO)
    assert refused(acme.send("DELETE", EMAIL, {"email": EVE}, bearer=token))[0] == 403
    profile = answered(acme.send("GET", OWN, bearer=token))
    assert [entry["Value"] for entry in profile["Email"]] == [EVE]
    assert profile["EmailVerified"] is False
    assert refused(acme.send("POST", LOGIN, {"email": CFO, "password": PASSWORD}, with_secret=False))[0] in (401, 403)
    assert register(acme, CFO).status_code == 200, "an unverified claim does not block the owner's registration"
    answered(verify(acme, EVE))
    assert answered(acme.send("GET", MANAGE, email=EVE))["EmailVerified"] is True


def test_added_address_belongs_to_account_once_verified(acme: TenantServer) -> None:
    token = registered_token(acme, UserName="ada")
    answered(acme.send("PUT", OWN, {"Email": primary(ADA)}, bearer=token))
    answered(verify(acme, ADA))
    profile = answered(acme.send("GET", MANAGE, email=ADA))
    assert (profile["UserName"], profile["EmailVerified"], profile["UnverifiedEmail"]) == ("ada", True, None)
    assert refused(acme.send("DELETE", EMAIL, {"email": ADA}, bearer=token))[0] == 403


def test_first_verification_wins_address_of_two_accounts(acme: TenantServer) -> None:
    for name in ("ada", "eve"):
        answered(acme.send("PUT", OWN, {"Email": primary(ADA)}, bearer=registered_token(acme, UserName=name)))
    links = [token_in(mail) for mail in mails_to(acme.services, acme.tenant_id, ADA)]
    answered(acme.send("GET", EMAIL, with_secret=False, verificationtoken=links[0]))
    assert refused(acme.send("GET", EMAIL, with_secret=False, verificationtoken=links[1])) == (403, 936)


@pytest.mark.both_databases
def test_code_loses_to_a_link_of_another_account(
    new_tenant_server: NewTenantServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    acme = new_tenant_server(limits=UNLIMITED, email_verification="optional", email_verification_codes=True)
    for name in ("ada", "eve"):
        account = acme.create(Email=primary(f"{name}@first.test"))
        acme.update(account["Uid"], {"EmailVerified": True})
        bearer = str(acme.tokens(account["Uid"])["access_token"])
        answered(acme.send("POST", EMAIL, {"email": ADA, "type": "Secondary"}, bearer=bearer))
    first, second = mails_to(acme.services, acme.tenant_id, ADA)
    spend = one_time_tokens.spend_checked_code

    def after_the_link(*stored: Any, **named: Any) -> None:
        answered(acme.send("GET", EMAIL, with_secret=False, verificationtoken=token_in(first)))
        spend(*stored, **named)

    monkeypatch.setattr(one_time_tokens, "spend_checked_code", after_the_link)
    answer = acme.send("PUT", EMAIL, {"email": ADA, "otp": code_in(second)}, with_secret=False)
    assert refused(answer) == (403, 936)


def test_last_verified_address_cannot_be_removed(acme: TenantServer) -> None:
    made = acme.create(Email=TWO)
    acme.update(made["Uid"], {"EmailVerified": True})
    token = str(acme.tokens(made["Uid"])["access_token"])
    assert refused(acme.send("DELETE", EMAIL, {"email": EVE}, bearer=token))[0] == 403
    answered(acme.send("DELETE", EMAIL, {"email": CFO}, bearer=token))
    assert acme.read(made["Uid"])["EmailVerified"] is True


def test_eleven_addresses_are_refused(acme: TenantServer) -> None:
    many = [{"Type": "Work", "Value": f"a{number}@example.test"} for number in range(11)]
    assert refused(register(acme, None, Email=many)) == (400, 908)
    token = registered_token(acme, UserName="eve")
    assert refused(acme.send("PUT", OWN, {"Email": many}, bearer=token)) == (403, 1174)


def reset(acme: TenantServer, address: str, password: str) -> Any:
    answered(acme.send("POST", FORGOT, {"email": address}, with_secret=False))
    return acme.send("PUT", FORGOT, {"resettoken": token_of(acme, address), "password": password}, with_secret=False)


@pytest.mark.both_databases
def test_reset_by_first_verifier_drops_earlier_access(acme: TenantServer) -> None:
    owner, attacker = "vic9@corp.test", "att9@evil.test"
    two = [{"Type": "Primary", "Value": owner}, {"Type": "Secondary", "Value": attacker}]
    token = registered_token(acme, Email=two, UserName="vic9", PhoneId="+4930123499")
    link = token_of(acme, attacker)
    answered(reset(acme, owner, OTHER))
    mails = len(mails_to(acme.services, acme.tenant_id, attacker))
    acme.send("POST", FORGOT, {"email": attacker}, with_secret=False)
    assert len(mails_to(acme.services, acme.tenant_id, attacker)) == mails
    assert refused(acme.send("GET", EMAIL, with_secret=False, verificationtoken=link))[0] == 403
    assert refused(acme.send("GET", OWN, bearer=token))[0] == 401
    profile = answered(acme.send("GET", MANAGE, email=owner))
    assert [entry["Value"] for entry in profile["Email"]] == [owner]
    assert (profile["EmailVerified"], profile["UnverifiedEmail"], profile["PhoneId"]) == (True, None, None)
    answered(acme.send("POST", LOGIN, {"email": owner, "password": OTHER}, with_secret=False))
    assert refused(acme.send("POST", LOGIN, {"email": owner, "password": PASSWORD}, with_secret=False))[0] == 401


def test_first_verification_drops_other_addresses(acme: TenantServer) -> None:
    registered_token(acme, Email=TWO)
    link = token_of(acme, EVE)
    answered(verify(acme, CFO))
    profile = answered(acme.send("GET", MANAGE, email=CFO))
    assert [(entry["Type"], entry["Value"]) for entry in profile["Email"]] == [("Primary", CFO)]
    assert refused(acme.send("GET", EMAIL, with_secret=False, verificationtoken=link))[0] == 403
    assert refused(acme.send("GET", MANAGE, email=EVE))[0] == 403
