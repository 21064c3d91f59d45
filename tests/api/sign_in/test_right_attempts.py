"""Many people behind one address: right attempts do not count against it, wrong ones and sign-ups do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.accounts.customers import LOGIN, OLD, Customer, a_customer
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.accounts.registering import primary
from tests.support.accounts.sotts import sott_of
from tests.support.credentials.passkeys import passkey_holder
from tests.support.oauth.relying_party import Browser
from tests.support.oauth.world import NewWorld
from tests.support.races import at_once
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

LINK = "/identity/v2/auth/login/passwordlesslogin/email/verify"


@pytest.mark.both_databases
def test_twenty_people_sign_in_at_once_from_one_address(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    people = [a_customer(lambda **_: tenant) for _ in range(20)]
    for _ in range(2):
        assert {answer.status_code for answer in at_once([person.logs_in for person in people])} == {200}


def test_wrong_passwords_count_between_right_ones(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, limits={"sign_in_per_minute_per_address": 4})
    for _ in range(4):
        answered(customer.logs_in())
        assert customer.logs_in("wrong").status_code == 401
    assert refused(customer.logs_in()) == (429, 429)


def test_right_password_of_blocked_account_counts(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server, limits={"sign_in_per_minute_per_address": 2})
    customer.tenant.update(customer.uid, {"IsActive": False})
    statuses = [customer.logs_in().status_code for _ in range(3)]
    assert statuses == [403, 403, 429]


def test_one_account_does_not_use_up_the_limit_of_all(new_tenant_server: NewTenantServer) -> None:
    """Else one account in a network could lock out all others by signing in again and again."""
    limits = {"sign_in_per_minute_per_address": 3, "sign_in_per_minute": 10}
    customer = a_customer(new_tenant_server, limits=limits)
    assert [customer.logs_in().status_code for _ in range(11)] == [200] * 6 + [429] * 5
    tenant, login = customer.tenant, {"email": customer.email, "password": OLD}
    other = PlainClient(tenant.app, use_cookies=False).post(
        LOGIN,
        json=login,
        query_string={"apikey": tenant.api_key},
        base_url=f"http://{tenant.services.settings.api_hostname}",
        environ_base={"REMOTE_ADDR": "198.51.100.7"},
    )
    assert other.status_code == 200


def sign_in_link(customer: Customer) -> None:
    answered(customer.ask("GET", path="/identity/v2/auth/login/passwordlesslogin/email", email=customer.email))
    token = token_in(mails_to(customer.tenant.services, customer.tenant.tenant_id, customer.email)[-1])
    answered(customer.ask("GET", path=LINK, verificationtoken=token))


def wrong_sign_in_link(customer: Customer) -> int:
    return customer.ask("GET", path=LINK, verificationtoken="x" * 43).status_code


def reset(customer: Customer) -> None:
    answered(customer.reset(resettoken=customer.token(), password=f"{PASSWORD}{len(customer.mails())}"))


def wrong_reset(customer: Customer) -> int:
    return customer.reset(resettoken="x" * 43, password=PASSWORD).status_code


@pytest.mark.parametrize(("right", "wrong"), [(sign_in_link, wrong_sign_in_link), (reset, wrong_reset)])
def test_right_links_do_not_count(
    new_tenant_server: NewTenantServer, right: Callable[[Customer], None], wrong: Callable[[Customer], int]
) -> None:
    limits = {"sign_in_per_minute_per_address": 3, "reset_per_minute_per_address": 3}
    free = {"forgot_per_minute_per_address": 0, "passwordless_per_minute_per_address": 0}
    amount = {"amount": 100, "minutes": 5}
    sending = {"mails": amount, "mails_in_all": amount, "mails_by_type": {}}
    settings = {"passwordless_email": True, "limits": {**limits, **free}, "sending": sending}
    customer = a_customer(new_tenant_server, **settings)
    for _ in range(4):
        right(customer)
    assert [wrong(customer) == 429 for _ in range(4)] == [False, False, False, True]


def test_right_passkeys_do_not_count(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server, limits={"passkeys_per_minute_per_address": 3}).add_passkey()
    for _ in range(6):
        answered(ada.sign_in())
    statuses = [ada.sign_in(signature=b"x").status_code for _ in range(2)]
    assert statuses == [403, 403], "the passkey was created with one ceremony, too"
    assert (
        ada.tenant.send("GET", "/identity/v2/auth/login/passkey/autofill/begin", with_secret=False).status_code == 429
    )


def test_right_device_codes_do_not_count(new_world: NewWorld) -> None:
    world = new_world(limits={"device_codes_per_minute_per_address": 3})
    tv = world.application(
        "tv", secret=None, application_type="native", grant_types=["urn:ietf:params:oauth:grant-type:device_code"]
    )
    browser = Browser(world.services, world.wsgi, world.name)
    for _ in range(5):
        assert browser.type_code(tv.start_device().get_json()["user_code"]).interaction_id
    body = b'{"UserCode": "BBBB-BBBB"}'
    assert [browser.send("POST", "/hub/device", body).status_code for _ in range(4)] == [200, 200, 200, 429]


def register(tenant: TenantServer, email: str) -> int:
    body = {"Email": primary(email), "Password": PASSWORD}
    query: dict[str, Any] = {"sott": sott_of(tenant)}
    return tenant.send("POST", "/identity/v2/auth/register", body, with_secret=False, **query).status_code


def test_sign_up_counts_every_attempt_thirty_a_minute(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server()
    assert {register(tenant, f"ada{number}@example.test") for number in range(10)} == {200}
    assert {register(tenant, address) for address in ["ada1@example.test", "not an address"] * 10} == {400, 403}
    assert register(tenant, "grace@example.test") == 429


def test_people_behind_one_address_refresh_tokens(new_world: NewWorld) -> None:
    world = new_world(limits={"public_client_per_minute_per_address": 1_000})
    app = world.application("app", secret=None, application_type="spa", redirect_uris=["https://app.example/cb"])
    assert {app.refresh("unknown").status_code for _ in range(310)} == {400}, (
        "300 a minute is too few for a large office"
    )


HUB: dict[str, tuple[str, str]] = {
    "federation_starts_per_minute_per_address": ("/hub/connections/start", '{"Provider": "google"}'),
    "web_sso_per_minute_per_address": ("/hub/shared-session", "{}"),
    "qr_codes_per_minute_per_address": (
        "/hub/qr-code/open",
        '{"Token": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}',
    ),
    "device_codes_per_minute_per_address": ("/hub/device", '{"UserCode": "BBBB-BBBB"}'),
}
API: dict[str, tuple[str, str, dict[str, Any]]] = {
    "native_sign_in_per_minute_per_address": ("GET", "/api/v2/access_token/facebook", {"fb_access_token": "x"}),
    "qr_codes_per_minute_per_address": ("GET", "/sso/mobile/generate", {}),
    "qr_answers_per_minute_per_address": ("POST", "/sso/mobile/token", {"access_token": "x", "code": "x"}),
    "qr_polls_per_minute_per_address": ("GET", "/sso/mobile/token", {"code": "x"}),
}
ON: dict[str, Any] = {"qr_sign_on": True, "web_sso": True, "legacy_native_login": True}


@pytest.mark.parametrize("amount", [2, 0])
@pytest.mark.parametrize("name", HUB)
def test_limit_of_pages_is_a_setting(new_world: NewWorld, name: str, amount: int) -> None:
    world = new_world(limits={name: amount}, **ON)
    browser, (path, body) = Browser(world.services, world.wsgi, world.name), HUB[name]
    statuses = [browser.send("POST", path, body.encode()).status_code for _ in range(3)]
    assert [status == 429 for status in statuses] == [False, False, bool(amount)], statuses


@pytest.mark.parametrize("amount", [2, 0])
@pytest.mark.parametrize("name", API)
def test_limit_of_programs_is_a_setting(new_tenant_server: NewTenantServer, name: str, amount: int) -> None:
    tenant, (method, path, members) = new_tenant_server(limits={name: amount}, **ON), API[name]

    def ask() -> int:
        if method == "GET":
            return tenant.send(method, path, with_secret=False, **members).status_code
        return tenant.send(method, path, members, with_secret=False).status_code

    assert [ask() == 429 for _ in range(3)] == [False, False, bool(amount)]


@pytest.mark.parametrize("amount", [2, 0])
def test_limit_of_public_clients_is_a_setting(new_world: NewWorld, amount: int) -> None:
    world = new_world(limits={"public_client_per_minute_per_address": amount, "token_per_minute_per_client": 1})
    app = world.application("app", secret=None, application_type="spa", redirect_uris=["https://app.example/cb"])
    assert [app.refresh("unknown").status_code == 429 for _ in range(3)] == [False, False, bool(amount)]
