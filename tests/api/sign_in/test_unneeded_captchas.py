"""A captcha that nothing requires is ignored; a required captcha is judged."""

from __future__ import annotations

import pytest

from tests.support.accounts.customers import LOGIN, NEW, PATH, Customer, a_customer
from tests.support.accounts.mailbox import token_in
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.mark.parametrize(
    "captcha",
    [{"captcha_challenge": "x", "captcha_work": "1"}, {"g-recaptcha-response": "x"}, {"h-captcha-response": "x"}],
)
def test_captcha_that_nothing_needs_is_ignored(new_tenant_server: NewTenantServer, captcha: dict[str, str]) -> None:
    ada = a_customer(new_tenant_server, phone_login=True, passwordless_email=True, passwordless_sms=True)
    answered(ada.ask("POST", {"email": ada.email, **captcha}))
    token = token_in(ada.mails()[-1])
    answered(ada.ask("POST", {"phone": ada.phone, **captcha}, path=f"{PATH}/otp"))
    answered(ada.reset(resettoken=token, password=NEW, **captcha))
    signed_in = answered(ada.ask("POST", {"email": ada.email, "password": NEW, **captcha}, path=LOGIN))
    bearer = signed_in["access_token"]
    body = {"oldpassword": NEW, "newpassword": f"{NEW}!", **captcha}
    answered(ada.tenant.send("PUT", f"{PATH}/change", body, bearer=bearer))
    answered(
        ada.tenant.send(
            "PUT", "/identity/v2/auth/account", {"FirstName": "Ada", **captcha}, bearer=login(ada, f"{NEW}!")
        )
    )
    query = {name: value for name, value in captcha.items() if not name.startswith("captcha")}
    at = "/identity/v2/auth/login/passwordlesslogin"
    answered(ada.ask("GET", path=f"{at}/email", email=ada.email, **query))
    answered(ada.ask("GET", path=f"{at}/otp", phone=ada.phone, **query))


def login(ada: Customer, password: str) -> str:
    return str(answered(ada.logs_in(password))["access_token"])


def test_needed_captcha_is_still_judged(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server, captcha_at=["forgot_password"])
    for captcha in ({}, {"captcha_challenge": "x", "captcha_work": "1"}, {"g-recaptcha-response": "x"}):
        assert refused(ada.ask("POST", {"email": ada.email, **captcha})) == (403, 982), captcha
    assert ada.mails() == []
