"""Members of OAuth clients that the interface names, and what each of them does (decision 0354)."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import LoginStep, RedirectStep
from tests.support.oauth.managed_clients import CLIENTS, SHOP
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved, parameters_of
from tests.support.oauth.world import World
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

PAGE = "https://pages.example"


def id_token(client: RelyingParty, browser: Browser, person: Person, **changed: str) -> str:
    return str((client.redeem(browser.code(client, person, **changed)).json or {})["id_token"])


def test_id_token_has_other_audiences_and_its_client(world: World, browser: Browser, ada: Person) -> None:
    app = world.application("App", client_id="app", id_token_audiences=["server", "app", "server"])
    claims = claims_in(id_token(app, browser, ada))
    assert (claims["aud"], claims["azp"]) == (["app", "server"], "app")
    plain = world.application("Plain", client_id="plain")
    assert claims_in(id_token(plain, browser, ada))["aud"] == "plain"


def test_id_token_of_several_audiences_is_a_hint_of_its_client(world: World, browser: Browser, ada: Person) -> None:
    server = world.application("Server", client_id="server")
    app = world.application("App", client_id="app", id_token_audiences=["server"])
    stored = id_token(app, browser, ada)
    own = browser.authorize(app.authorization_parameters(prompt="none", id_token_hint=stored))
    assert "code" in parameters_of(own)
    of_server = browser.authorize(server.authorization_parameters(prompt="none", id_token_hint=stored))
    assert parameters_of(of_server)["error"] == "invalid_request"


def test_other_audience_may_not_exchange_the_id_token(world: World, browser: Browser, ada: Person) -> None:
    exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    server = world.application("Server", client_id="server", grant_types=[exchange])
    app = world.application("App", client_id="app", id_token_audiences=["server"])
    form = {
        "grant_type": exchange, "subject_token": id_token(app, browser, ada),
        "subject_token_type": "urn:ietf:params:oauth:token-type:id_token", **server.client_credentials(),
    }  # fmt: skip
    assert (server.back("token", form).json or {})["error"] in ("invalid_request", "invalid_grant")


def allowed_origin(client: RelyingParty, origin: str) -> str | None:
    form = {"token": "unknown", **client.client_credentials()}
    answer = client.back("revoke", form, headers={"Origin": origin})
    assert answer.status_code == 200
    return answer.headers.get("Access-Control-Allow-Origin")


@pytest.mark.both_databases
def test_client_without_cors_opens_no_origin(world: World) -> None:
    client = world.application("Spa", cors_origins=[PAGE], redirect_uris=["https://app.example/in"])
    assert [allowed_origin(client, item) for item in (PAGE, "https://app.example")] == [PAGE, "https://app.example"]
    world.change(client, cors=False)
    assert [allowed_origin(client, item) for item in (PAGE, "https://app.example")] == [None, None]


def test_client_without_pushed_requests_may_push_none(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("Shop")
    pushed = (client.push().json or {})["request_uri"]
    body = (client.push().json or {})["request_uri"]
    step = browser.authorize({"client_id": client.client_id, "request_uri": body})
    assert step.kind is LoginStep
    world.change(client, pushed_authorization_requests=False)
    assert (client.push().json or {})["error"] == "unauthorized_client"
    expired = browser.authorize({"client_id": client.client_id, "request_uri": pushed})
    assert expired.kind is not LoginStep, "it was pushed before"
    assert "code" not in parameters_of(expired)
    done = browser.sign_in(step.interaction_id, ada.email, ada.password)
    assert "code" not in (parameters_of(done) if done.kind is RedirectStep else {}), "its page was open"
    assert browser.authorize(client.authorization_parameters()).kind in (LoginStep, RedirectStep)


def test_device_polls_at_the_interval_of_its_client(world: World) -> None:
    tv = world.application(
        "Tv", grant_types=[DEVICE_GRANT], redirect_uris=[], device_poll_seconds=20, device_code_seconds=600
    )
    body = tv.start_device().json or {}
    assert (body["interval"], body["expires_in"]) == (20, 600)
    assert (tv.poll(body["device_code"]).json or {})["error"] == "authorization_pending"
    with moved(world.services, seconds=10):
        assert (tv.poll(body["device_code"]).json or {})["error"] == "slow_down"


def test_metadata_is_in_no_token(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("Shop", metadata={"team": "secret-team"}, access_token_format="jwt")
    body = client.redeem(browser.code(client, ada)).json or {}
    for token in (body["id_token"], body["access_token"]):
        assert "secret-team" not in str(claims_in(token))


# The same members at the management operations


@pytest.fixture
def tenant(acme: TenantServer) -> TenantServer:
    return acme


STORED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"RequirePAR": True}, {"RequirePushedAuthorizationRequests": True, "RequirePAR": True}),
    ({"RequirePushedAuthorizationRequests": True}, {"RequirePAR": True}),
    ({"EnablePAR": False}, {"EnablePAR": False, "RequirePAR": False}),
    ({"AllowedWebOrigin": [PAGE]}, {"AllowedCorsOrigin": [PAGE], "AllowedWebOrigin": [PAGE]}),
    ({"AllowedCorsOrigin": [PAGE]}, {"AllowedWebOrigin": [PAGE], "EnableCorsOrigin": True}),
    ({"AllowedCorsOrigin": [PAGE], "AllowedWebOrigin": [PAGE]}, {"AllowedWebOrigin": [PAGE]}),
    ({"EnableCorsOrigin": False}, {"EnableCorsOrigin": False}),
    ({"DeviceCodeTTL": 700}, {"DeviceCodeTTL": 700}),
    ({"IdTokenAudiences": ["server"]}, {"IdTokenAudiences": ["server"]}),
    ({"Metadata": {"team": "shop"}}, {"Metadata": {"team": "shop"}}),
]
CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"RequirePAR": True, "RequirePushedAuthorizationRequests": False}, "RequirePAR"),
    ({"AllowedWebOrigin": [PAGE], "AllowedCorsOrigin": []}, "AllowedWebOrigin"),
    ({"DeviceCodeConfig": {"DeviceCodeExpire": 600}, "DeviceCodeTTL": 700}, "DeviceCodeConfig.DeviceCodeExpire"),
    ({"RequirePAR": True, "EnablePAR": False}, "EnablePAR"),
    ({"SecurityProfile": "fapi2", "EnablePAR": False}, "EnablePAR"),
    ({"IdTokenAudiences": ["server", "server"]}, "IdTokenAudiences"),
    ({"DeviceCodeConfig": {"PollingInterval": 0}}, "DeviceCodeConfig"),
    ({"DeviceCodeConfig": {"UserCodeCharacterSet": "Base36"}}, "DeviceCodeConfig"),
    ({"DeviceCodeConfig": {"UserCodeMask": "**"}}, "DeviceCodeConfig"),
    ({"Metadata": {"x" * 61: "y"}}, "Metadata"),
    ({"AllowedWebOrigin": ["*"]}, "AllowedWebOrigin"),
]
NOT_SERVED = (
    "Connections", "GlobalClient", "LoginUrl", "DeviceCodeConfig.VerificationUrl", "DeviceCodeConfig.AfterVerificationUrl",
)  # fmt: skip


def test_members_are_stored_and_returned(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    token = machine(tenant, "all")
    for sent, shown in STORED:
        with subtests.test(str(sent)):
            made = answered(ask(tenant, token, "POST", CLIENTS, {**SHOP, **sent}))
            assert shown.items() <= made.items()
            answered(ask(tenant, token, "DELETE", f"{CLIENTS}/Shop"))
            answered(ask(tenant, token, "POST", CLIENTS, SHOP))
            answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", sent))
            assert shown.items() <= answered(ask(tenant, token, "GET", f"{CLIENTS}/Shop")).items()
            answered(ask(tenant, token, "DELETE", f"{CLIENTS}/Shop"))


def test_device_codes_are_stored_as_one_object(tenant: TenantServer) -> None:
    token = machine(tenant, "all")
    made = answered(ask(tenant, token, "POST", CLIENTS, {**SHOP, "DeviceCodeConfig": {"PollingInterval": 9}}))
    default = {"UserCodeCharacterSet": "Base20", "UserCodeMask": "****-****"}
    assert made["DeviceCodeConfig"] == {"DeviceCodeExpire": 300, "PollingInterval": 9, **default}
    config = {"DeviceCodeExpire": 900}
    changed = answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {"DeviceCodeConfig": config}))
    assert changed["DeviceCodeConfig"] == {"DeviceCodeExpire": 900, "PollingInterval": 5, **default}
    assert changed["DeviceCodeTTL"] == 900


def test_reasons_for_logout_tokens_have_both_spellings(tenant: TenantServer) -> None:
    token = machine(tenant, "all")
    reasons = {"RPLogout": True, "IDPLogout": True, "PasswordChange": False, "AccountDelete": False}
    for initiator in (reasons, {"Mode": "RPInitiated", "Intiators": reasons}):
        body = {"BackChannelLogout": {"LogoutURIs": ["https://shop.example/out"], "LogoutInitiator": initiator}}
        answered(ask(tenant, token, "POST", CLIENTS, {**SHOP, **body}))
        shown = answered(ask(tenant, token, "GET", f"{CLIENTS}/Shop"))["BackChannelLogout"]["LogoutInitiator"]
        assert shown == {**reasons, "Mode": "RPInitiated", "Intiators": reasons}
        answered(ask(tenant, token, "DELETE", f"{CLIENTS}/Shop"))


def test_members_that_contradict_are_refused_by_name(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    token = machine(tenant, "all")
    for sent, name in CONTRADICTIONS:
        with subtests.test(str(sent)):
            answer = ask(tenant, token, "POST", CLIENTS, {**SHOP, **sent})
            assert refused(answer) == (400, 7900)
            assert name in answer.get_json()["Description"], answer.text


def test_members_without_an_effect_are_refused_by_name(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    token = machine(tenant, "all")
    answered(ask(tenant, token, "POST", CLIENTS, SHOP))
    values: tuple[Any, ...] = (None, False, "x", {}, [])
    for name in NOT_SERVED:
        first, _, rest = name.partition(".")
        for value in values:
            with subtests.test(f"{name} {value!r}"):
                answer = ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {first: {rest: value} if rest else value})
                assert refused(answer) == (400, 7900)
                assert answer.get_json()["Description"].startswith(f"{name}: "), answer.text


ORIGIN, NEW_ORIGIN = "https://one.example", "https://two.example"
TWO_NAMES: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    (
        {"AllowedCorsOrigin": [NEW_ORIGIN]},
        {"AllowedWebOrigin": [NEW_ORIGIN]},
        {"AllowedWebOrigin": ["https://three.example"]},
    ),
    ({"RequirePushedAuthorizationRequests": False}, {"RequirePAR": False}, {}),
    (
        {"DeviceCodeTTL": 400},
        {"DeviceCodeConfig": {"DeviceCodeExpire": 400}},
        {"DeviceCodeConfig": {"DeviceCodeExpire": 500}},
    ),
]
"""A change by the first name, the same by the second, and another change."""


def test_either_name_may_change_in_what_was_read(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    token = machine(tenant, "all")
    members = {"AllowedCorsOrigin": [ORIGIN], "RequirePAR": True, "DeviceCodeTTL": 300}
    for first, second, third in TWO_NAMES:
        with subtests.test(str(first)):
            read = answered(ask(tenant, token, "POST", CLIENTS, {**SHOP, **members}))
            for change in (first, second):
                changed = answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {**read, **change}))
                assert first.items() <= changed.items()
                answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", read))
            if third:
                answer = ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {**read, **first, **third})
                assert refused(answer) == (400, 7900)
            answered(ask(tenant, token, "DELETE", f"{CLIENTS}/Shop"))


def test_either_form_of_logout_events_may_change(tenant: TenantServer) -> None:
    token = machine(tenant, "all")
    body = {"BackChannelLogout": {"LogoutURIs": ["https://shop.example/out"]}}
    read = answered(ask(tenant, token, "POST", CLIENTS, {**SHOP, **body}))["BackChannelLogout"]
    initiator = read["LogoutInitiator"]
    reasons = {**initiator["Intiators"], "PasswordChange": False}
    for changed in ({**initiator, "PasswordChange": False}, {**initiator, "Intiators": reasons}):
        sent = {"BackChannelLogout": {**read, "LogoutInitiator": changed}}
        shown = answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", sent))["BackChannelLogout"]["LogoutInitiator"]
        assert shown == {**reasons, "Mode": "RPInitiated", "Intiators": reasons}
        answered(ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {"BackChannelLogout": read}))
    both = {**initiator, "PasswordChange": False, "Intiators": {**initiator["Intiators"], "AccountDelete": False}}
    answer = ask(tenant, token, "PUT", f"{CLIENTS}/Shop", {"BackChannelLogout": {**read, "LogoutInitiator": both}})
    assert refused(answer) == (400, 7900)
