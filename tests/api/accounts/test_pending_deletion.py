"""An account that is being deleted: the answers of its own operations to an older session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask

from tests.support.accounts.customers import NEW, OLD, PATH, Customer, a_customer
from tests.support.accounts.mailbox import code_in, links_to, path_of, token_in
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

OWN, EMAIL, LOGIN = "/identity/v2/auth/account", "/identity/v2/auth/email", "/identity/v2/auth/login"
OTHER, MINE = "countess@example.test", "Amber-window-44"
BY_SESSION: Mapping[str, tuple[str, str, Any]] = {
    "U15": ("GET", OWN, None),
    "U16": ("PUT", OWN, {"Password": NEW}),
    "U17": ("PUT", OWN, {"securityquestionanswer": {"pet": "x"}}),
    "U18": ("DELETE", OWN, None),
    "U20": ("GET", f"{OWN}/otp", None),
    "U21": ("POST", f"{OWN}/delete", {"otp": "123456"}),
    "U22": ("PUT", "/identity/v2/auth/username", {"username": "countess"}),
    "U23": ("POST", EMAIL, {"email": "third@example.test", "type": "Secondary"}),
    "U24": ("DELETE", EMAIL, {"email": OTHER}),
    "U25": ("PUT", f"{OWN}/unlock", {"securityanswer": {"pet": "x"}}),
    "U26": ("GET", f"{OWN}/sendwelcomeemail", None),
    "U27": ("GET", "/identity/v2/auth/privacypolicy/accept", None),
    "U28": ("GET", "/identity/v2/auth/privacypolicy/history", None),
    "U32": ("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}),
}


@dataclass
class PendingDeletion:
    """A customer whose account is being deleted, with tokens, links and codes issued before."""

    customer: Customer
    hub: Flask
    bearer: str
    refresh: str
    link: str
    code: str
    added: str
    deletion: str

    def browser(self) -> Visitor:
        return Visitor(PlainClient(self.hub), self.customer.tenant.services.settings.hub_url(self.customer.tenant.name))

    def signs_in(self, password: str = OLD) -> VisitedPage:
        return self.browser().open("/profile").press("Sign in", identifier=self.customer.email, password=password)


@pytest.fixture
def deleting(new_tenant_server: NewTenantServer, hub_app: Flask) -> PendingDeletion:
    customer = a_customer(new_tenant_server, security_questions={"pet": "First pet?"}, phone_login=True)
    stored = answered(customer.logs_in())
    bearer = str(stored["access_token"])
    answered(customer.tenant.send("POST", EMAIL, {"email": OTHER, "type": "Secondary"}, bearer=bearer))
    from_other = Customer(customer.tenant, customer.uid, OTHER, customer.username)
    added = token_in(from_other.mails()[-1])
    reset = customer.mail()
    answered(customer.tenant.send("DELETE", OWN, bearer=bearer))
    deletion = token_in(customer.mails()[-1])
    answered(customer.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=deletion))
    return PendingDeletion(
        customer, hub_app, bearer, stored["refresh_token"], token_in(reset), code_in(reset), added, deletion
    )


def test_session_from_before_deletion_is_refused(deleting: PendingDeletion) -> None:
    tenant = deleting.customer.tenant
    answers = {
        operation: refused(tenant.send(method, path, body, bearer=deleting.bearer))
        for operation, (method, path, body) in BY_SESSION.items()
    }
    assert answers == dict.fromkeys(BY_SESSION, (401, 1409))
    refreshed = tenant.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=deleting.refresh)
    assert refused(refreshed) == (403, 1217)
    assert refused(tenant.send("GET", f"{MANAGE}/access_token", uid=deleting.customer.uid)) == (403, 991)


def test_links_and_codes_from_before_deletion_are_refused(deleting: PendingDeletion) -> None:
    customer = deleting.customer
    new, number = {"password": NEW}, {"phone": customer.phone}
    assert refused(customer.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=deleting.deletion)) == (
        403,
        974,
    )
    assert refused(customer.tenant.send("GET", EMAIL, with_secret=False, verificationtoken=deleting.added)) == (
        403,
        975,
    )
    answers = {
        "login": customer.logs_in(),
        "U33": customer.forgot(),
        "U34 code": customer.by_code(deleting.code),
        "U34 username": customer.reset(username=customer.username, otp=deleting.code, **new),
        "U35": customer.ask("POST", number, path=f"{PATH}/otp"),
        "U36": customer.ask("PUT", {**number, **new, "otp": "123456"}, path=f"{PATH}/otp"),
        "U37": customer.ask(
            "PUT",
            {"email": customer.email, **new, "securityanswer": {"pet": "grey owl"}},
            path=f"{PATH}/securityanswer",
        ),
    }
    assert {operation: refused(answer) for operation, answer in answers.items()} == dict.fromkeys(answers, (403, 991))
    assert refused(customer.reset(resettoken=deleting.link, **new)) == (403, 975)
    mails = len(customer.mails())
    sent = deleting.browser().open("/login").follow("Forgot password?").press("Continue", identifier=customer.email)
    assert (sent.heading, len(customer.mails())) == ("Check your email", mails)


def test_password_cancels_deletion_and_session_does_not(deleting: PendingDeletion) -> None:
    """A session alone, a forged token or an expired token does not cancel the deletion."""
    clock = deleting.customer.tenant.services.clock
    assert "being deleted" not in deleting.signs_in("wrong").text
    offered = deleting.signs_in()
    assert offered.heading == "Account scheduled for deletion"
    text = offered.form("Keep my account").fields["keep"]
    for forged in ("", "x", text[:-4], text.swapcase()):
        offered.press("Keep my account", keep=forged)
        assert deleting.customer.tenant.read(deleting.customer.uid)["IsDeleted"] is True
    clock.advance(minutes=11)  # type: ignore[attr-defined]  # the fixed clock of the tests
    offered.press("Keep my account")
    assert deleting.customer.tenant.read(deleting.customer.uid)["IsDeleted"] is True
    deleting.signs_in().press("Keep my account")
    assert deleting.customer.tenant.read(deleting.customer.uid)["IsDeleted"] is False


def take_over_and_delete(new_tenant_server: NewTenantServer) -> tuple[Customer, str]:
    """Return a customer whose password a thief changed before deleting the account, and the path of the security alert."""
    customer = a_customer(new_tenant_server)
    bearer = answered(customer.logs_in())["access_token"]
    answered(customer.tenant.send("PUT", f"{PATH}/change", {"oldpassword": OLD, "newpassword": NEW}, bearer=bearer))
    link = next(link for mail in customer.mails() for link in links_to(mail["text"], "/not-me"))
    answered(customer.tenant.send("DELETE", OWN, bearer=bearer))
    answered(
        customer.tenant.send("GET", f"{OWN}/delete", with_secret=False, deletetoken=token_in(customer.mails()[-1]))
    )
    return customer, path_of(link)


@pytest.mark.both_databases
def test_security_alert_restores_account_deleted_by_thief(new_tenant_server: NewTenantServer, hub_app: Flask) -> None:
    customer, alert_path = take_over_and_delete(new_tenant_server)
    owner = Visitor(PlainClient(hub_app), customer.tenant.services.settings.hub_url(customer.tenant.name))
    assert owner.open(alert_path).press("Secure my account").heading == "Check your email"
    page = owner.open(f"/reset-password?vtoken={token_in(customer.mails()[-1])}")
    assert page.press("Save password", password=MINE).address.endswith("/profile?changed=password")
    assert customer.tenant.read(customer.uid)["IsDeleted"] is False
    answered(customer.logs_in(MINE))


@pytest.mark.parametrize("closed", [{"IsActive": False}, {"IsDeleted": True}])
def test_security_alert_reopens_no_account_closed_by_tenant(
    new_tenant_server: NewTenantServer, hub_app: Flask, closed: dict[str, bool]
) -> None:
    customer, alert_path = take_over_and_delete(new_tenant_server)
    customer.tenant.update(customer.uid, {"IsDeleted": False})
    customer.tenant.update(customer.uid, closed)
    owner = Visitor(PlainClient(hub_app), customer.tenant.services.settings.hub_url(customer.tenant.name))
    assert owner.open(alert_path).heading == "Account blocked"
    customer.tenant.update(customer.uid, {name: not value for name, value in closed.items()})
    page = owner.open(alert_path)
    customer.tenant.update(customer.uid, closed)
    assert page.press("Secure my account").heading == "Account blocked"
    customer.tenant.update(customer.uid, {name: not value for name, value in closed.items()})
    assert owner.open(alert_path).heading == "Secure your account", "the link remains valid"


@pytest.mark.both_databases
def test_alert_takes_no_address_that_another_account_verified(
    new_tenant_server: NewTenantServer, hub_app: Flask
) -> None:
    customer, alert_path = take_over_and_delete(new_tenant_server)
    tenant = customer.tenant
    tenant.update(customer.uid, {"IsDeleted": False})
    answered(tenant.send("PUT", f"{MANAGE}/{customer.uid}/email", {"Email": [{"Type": "Primary", "Value": OTHER}]}))
    address = [{"Type": "Primary", "Value": customer.email}]
    newcomer = tenant.create(Email=address, EmailVerified=True)["Uid"]
    owner = Visitor(PlainClient(hub_app), tenant.services.settings.hub_url(tenant.name))
    page = owner.open(alert_path).press("Secure my account")
    assert page.heading == "Choose a new password"
    assert [tenant.read(newcomer)[name] for name in ("Email", "EmailVerified")] == [address, True]
    assert tenant.read(customer.uid)["EmailVerified"] is False
