"""REST hooks, the oldest operations of webhooks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from app.identity.administration.webhooks import rest_hooks
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.tenants.webhooks import TARGET, Body, Webhooks

FULL, UNKNOWN_EVENT, WRONG_URL, TAKEN, UNKNOWN = (403, 1085), (403, 1086), (403, 1087), (403, 1110), (403, 1112)
BODY: Body = {"targeturl": TARGET, "event": "login"}


@pytest.fixture
def hooks(acme: TenantServer) -> Webhooks:
    return Webhooks(acme)


def at(number: int) -> Body:
    return {**BODY, "targeturl": f"https://hooks{number}.example/in"}


@pytest.mark.both_databases
def test_subscription_is_a_webhook_of_an_integration(hooks: Webhooks) -> None:
    assert answered(hooks.server("POST", "/api/v2/webhook", BODY)) == {"IsPosted": True}
    (made,) = hooks.listed()
    assert (made["TargetUrl"], made["Event"], made["IsIntegrationWebhook"]) == (TARGET, "Login", True)
    assert (made["IsEnabled"], made["SigningSecret"]) == (True, "********")
    assert answered(hooks.server("DELETE", "/api/v2/webhook", BODY)) == {"IsDeleted": True}
    assert hooks.listed() == []


@pytest.mark.both_databases
def test_subscriptions_are_listed_by_event(hooks: Webhooks) -> None:
    answered(hooks.server("POST", "/api/v2/webhook", BODY))
    hooks.created("Register", "https://warehouse.example/in")
    login = {"TargetUrl": TARGET, "Event": "Login"}
    register = {"TargetUrl": "https://warehouse.example/in", "Event": "Register"}
    assert answered(hooks.server("GET", "/api/v2/webhook", event="LOGIN")) == {"data": [login], "Count": 1}
    assert answered(hooks.server("GET", "/api/v2/webhook")) == {"data": [login, register], "Count": 2}
    assert answered(hooks.server("GET", "/api/v2/webhook", event="AddEmail")) == {"data": [], "Count": 0}
    assert refused(hooks.server("GET", "/api/v2/webhook", event="Logins")) == UNKNOWN_EVENT


def test_access_is_tested(hooks: Webhooks) -> None:
    assert answered(hooks.server("GET", "/api/v2/webhook/test")) == {"IsAllowed": True}


def test_malformed_subscription_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    refusals: tuple[tuple[Body, tuple[int, int]], ...] = (
        ({**BODY, "event": "Logins"}, UNKNOWN_EVENT),
        ({**BODY, "event": ""}, UNKNOWN_EVENT),
        ({**BODY, "targeturl": "http://hooks.example/in"}, WRONG_URL),
        ({**BODY, "targeturl": "https://a:b@hooks.example/in"}, WRONG_URL),
        ({**BODY, "targeturl": "https://hooks.example/\r\nX: 1"}, WRONG_URL),
        ({**BODY, "targeturl": ""}, WRONG_URL),
        ({"event": "Login"}, (400, 908)),
        ({"targeturl": TARGET}, (400, 908)),
        ({**BODY, "targeturl": ["https://hooks.example/in"]}, (400, 908)),
    )
    for body, error in refusals:
        with subtests.test(str(body)):
            assert refused(hooks.server("POST", "/api/v2/webhook", body)) == error
    assert hooks.listed() == []


def test_duplicate_of_any_webhook_is_refused(hooks: Webhooks) -> None:
    hooks.created()
    assert refused(hooks.server("POST", "/api/v2/webhook", BODY)) == TAKEN
    assert (
        refused(hooks.server("POST", "/api/v2/webhook", {**BODY, "targeturl": "https://HOOKS.example:443/in"})) == TAKEN
    )
    answered(hooks.server("POST", "/api/v2/webhook", {**BODY, "event": "Register"}))


def test_sixth_subscription_is_refused(hooks: Webhooks) -> None:
    hooks.created(target="https://newer.example/in")
    for number in range(5):
        answered(hooks.server("POST", "/api/v2/webhook", at(number)))
    assert refused(hooks.server("POST", "/api/v2/webhook", at(5))) == FULL
    hooks.created(target="https://another.example/in")
    answered(hooks.server("DELETE", "/api/v2/webhook", at(0)))
    answered(hooks.server("POST", "/api/v2/webhook", at(5)))


def test_subscription_beyond_all_webhooks_is_refused(hooks: Webhooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest_hooks, "MAX_WEBHOOKS", 1)
    hooks.created(target="https://newer.example/in")
    assert refused(hooks.server("POST", "/api/v2/webhook", BODY)) == FULL


@pytest.mark.both_databases
def test_concurrent_subscriptions_stay_within_the_limit(hooks: Webhooks) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda number: hooks.server("POST", "/api/v2/webhook", at(number)), range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [403] * 3
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {FULL}
    assert len(hooks.listed()) == 5


@pytest.mark.both_databases
def test_concurrent_duplicates_subscribe_once(hooks: Webhooks) -> None:
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: hooks.server("POST", "/api/v2/webhook", BODY), range(4)))
    assert sorted(answer.status_code for answer in answers) == [200, 403, 403, 403]
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {TAKEN}


def test_what_is_not_subscribed_cannot_be_unsubscribed(hooks: Webhooks, globex: TenantServer) -> None:
    answered(hooks.server("POST", "/api/v2/webhook", BODY))
    for body in (at(7), {**BODY, "event": "Register"}, {**BODY, "event": "Logins"}, {**BODY, "targeturl": "x"}):
        assert refused(hooks.server("DELETE", "/api/v2/webhook", body)) == UNKNOWN
    assert refused(Webhooks(globex).server("DELETE", "/api/v2/webhook", BODY)) == UNKNOWN
    assert answered(Webhooks(globex).server("GET", "/api/v2/webhook")) == {"data": [], "Count": 0}


def test_unsubscribing_finds_other_spellings(hooks: Webhooks) -> None:
    hooks.created()
    answered(hooks.server("DELETE", "/api/v2/webhook", {"targeturl": "https://HOOKS.example:443/in", "event": "LOGIN"}))
    assert hooks.listed() == []


@pytest.mark.parametrize("path", ["", "/test"])
def test_rest_hooks_need_the_api_secret(hooks: Webhooks, path: str) -> None:
    assert hooks.tenant.send("GET", f"/api/v2/webhook{path}", with_secret=False).status_code in (400, 401, 403)
    assert hooks.tenant.send("GET", f"/api/v2/webhook{path}", bearer=hooks.token).status_code in (400, 401, 403)
