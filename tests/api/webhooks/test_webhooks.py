"""Webhooks by programs with a machine token; what every resource does is tested for every resource."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from app.contract.webhooks.events import EVENTS
from app.contract.webhooks.webhook_operations import FORMER_SIGNING_SECRET, SIGNING_SECRET, WEBHOOKS
from app.identity.platform.resource_storage.resource_store import resources
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import iso
from tests.support.oauth.relying_party import moved
from tests.support.operations.resources import at_most
from tests.support.operations.resources import manager as manager_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.tenants.webhooks import SCOPES, TARGET, Body, Webhooks

UNKNOWN, MALFORMED, TAKEN, LACKS = (404, 7986), (400, 7900), (409, 7989), (403, 6002)
DANGEROUS = (400, 1214)
"""The input filter finds a value first, such as one with NUL."""
REFUSED = (MALFORMED, DANGEROUS)
BEARER: Body = {"AuthType": "Bearer", "BearerToken": {"Token": "t0ken"}}
BASIC: Body = {"AuthType": "Basic", "BasicAuth": {"Username": "ada", "Password": "open sesame"}}


@pytest.fixture
def hooks(acme: TenantServer) -> Webhooks:
    return Webhooks(acme)


def stored(hooks: Webhooks) -> Any:
    """Return the row of the tenant's only webhook."""
    work = UnitOfWork(hooks.tenant.services.database, hooks.tenant.tenant_id)
    rows = work.all(select(resources).where(resources.c.tenant_id == hooks.tenant.tenant_id))
    work.rollback()
    (row,) = rows
    return row


@pytest.mark.both_databases
def test_webhook_is_created_with_its_defaults(hooks: Webhooks) -> None:
    made = hooks.created()
    assert made["SigningSecret"].startswith("whsec_")
    assert len(base64.b64decode(made["SigningSecret"].removeprefix("whsec_"), validate=True)) == 32
    none = {"AuthType": "None", "BasicAuth": {"Username": None, "Password": None}, "BearerToken": {"Token": None}}
    moment = {"CreatedDate": made["CreatedDate"], "LastModifiedDate": made["LastModifiedDate"]}
    assert made == {
        "Id": made["Id"], "TargetUrl": TARGET, "Event": "Login", "Name": None, "SecretName": None,
        "IsIntegrationWebhook": False, "Headers": {}, "QueryParams": {}, "Authentication": none, "IsEnabled": True,
        "Format": "Json", "SigningSecret": made["SigningSecret"], "FormerSigningSecretUntil": None, **moment,
    }  # fmt: skip
    assert answered(hooks.program("GET", f"/v2/manage/webhooks/{made['Id']}")) == {**made, "SigningSecret": "********"}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"TargetUrl": "https://other.example/hook"}, "TargetUrl"),
        ({"event": "Register"}, "Event"),
        ({"Event": "Login", "TargetUrl": TARGET}, "TargetUrl, Event"),
    ],
)
def test_update_of_fixed_members_alone_names_them(hooks: Webhooks, body: Body, named: str) -> None:
    answer = hooks.program("PUT", f"/v2/manage/webhooks/{hooks.created()['Id']}", body)
    assert refused(answer) == MALFORMED
    sentence = f"{named}: an update can't change it, and the body contains no other setting."
    assert answer.get_json()["Description"] == sentence


def test_every_event_can_be_subscribed(hooks: Webhooks) -> None:
    listed = answered(hooks.program("GET", "/v2/manage/webhooks/events"))["Data"]
    assert listed == list(EVENTS)
    assert len(listed) == len(set(listed)) == 31
    for event in listed:
        assert hooks.created(event)["Event"] == event


@pytest.mark.parametrize("spelling", ["updatephoneid", "UPDATEPHONEID", "updatePhoneID"])
def test_event_is_matched_in_any_letter_case(hooks: Webhooks, spelling: str) -> None:
    assert hooks.created(spelling)["Event"] == "UpdatePhoneId"
    assert (
        refused(hooks.program("POST", "/v2/manage/webhooks", {"Event": "UpdatePhoneId", "TargetUrl": TARGET})) == TAKEN
    )


def test_unknown_event_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    for event in ("Logins", "", "ping", "Login ", "login\n", "*"):
        with subtests.test(event):
            answer = hooks.program("POST", "/v2/manage/webhooks", {"Event": event, "TargetUrl": TARGET})
            assert refused(answer) == MALFORMED
            assert "Event" in answer.get_json()["Description"]


def test_hostile_target_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    targets = (
        "http://hooks.example/", "ftp://hooks.example/", "//hooks.example/", "hooks.example", "", "https://", "https:///x",
        "https://ada:secret@hooks.example/", "https://ada@hooks.example/", "https://hooks.example/#part",
        "https://hooks.example/#", "https://hooks.example:0/", "https://hooks.example:99999/", "https://hooks.example:x/",
        "https://hooks.example/a b", "https://hooks.example/\r\nHost: evil", "https://hooks.example/\t", "javascript:alert(1)",
        "https://hooks.example\\@evil.example/", "https://[::1", "https://hooks.example/\u00fc", "https://[fe80::1%25eth0]/",
        f"https://hooks.example/{'a' * 2_048}",
    )  # fmt: skip
    for target in targets:
        with subtests.test(target[:60]):
            answer = hooks.program("POST", "/v2/manage/webhooks", {"Event": "Login", "TargetUrl": target})
            assert refused(answer) in REFUSED
            assert refused(answer) == DANGEROUS or "TargetUrl" in answer.get_json()["Description"]
    assert hooks.listed() == []


def test_same_target_in_another_spelling_is_a_duplicate(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    made = hooks.created(target="https://hooks.example/A?x=1")
    for target in ("https://HOOKS.example/A?x=1", "https://hooks.example:443/A?x=1", "HTTPS://hooks.example/A?x=1"):
        with subtests.test(target):
            assert (
                refused(hooks.program("POST", "/v2/manage/webhooks", {"Event": "login", "TargetUrl": target})) == TAKEN
            )
    for other in ("https://hooks.example/a?x=1", "https://hooks.example/A", "https://hooks.example:8443/A?x=1"):
        assert hooks.created(target=other)["Id"] != made["Id"]
    assert hooks.created("Register", "https://hooks.example/A?x=1")


@pytest.mark.both_databases
def test_one_of_concurrent_duplicates_at_all_addresses_wins(hooks: Webhooks) -> None:
    body, old = {"Event": "Login", "TargetUrl": TARGET}, {"event": "login", "targeturl": TARGET}
    assert hooks.token
    calls = [
        lambda: hooks.program("POST", "/v2/manage/webhooks", body),
        lambda: hooks.server("POST", "/v2/manage/webhook", body),
        lambda: hooks.server("POST", "/api/v2/webhook", old),
    ]
    with ThreadPoolExecutor(6) as threads:
        answers = [future.result() for future in [threads.submit(call) for call in calls * 2]]
    assert min(answer.status_code for answer in answers) == 200
    refusals = [refused(answer) for answer in answers if answer.status_code != 200]
    assert len(refusals) == 5
    assert set(refusals) <= {TAKEN, (403, 1110)}
    assert len(hooks.listed()) == 1


def test_fifty_first_webhook_is_refused(new_tenant_server: NewTenantServer) -> None:
    assert WEBHOOKS.max_items == 50
    hooks = Webhooks(new_tenant_server())
    with at_most(WEBHOOKS, 2):
        hooks.created("Login")
        hooks.created("Register")
        answer = hooks.program("POST", "/v2/manage/webhooks", {"Event": "AddEmail", "TargetUrl": TARGET})
        assert refused(answer) == MALFORMED
        assert answer.get_json()["Description"] == "At most 2 webhooks."


@pytest.mark.both_databases
def test_added_values_are_encrypted_and_readable(hooks: Webhooks) -> None:
    values: dict[str, Any] = {"Headers": {"X-Key": "header-value"}, "QueryParams": {"key": "query-value"}}
    made = hooks.created(**values, Authentication=BASIC)
    assert {name: made[name] for name in values} == values
    assert made["Authentication"] == {
        "AuthType": "Basic", "BasicAuth": {"Username": "ada", "Password": "********"}, "BearerToken": {"Token": None},
    }  # fmt: skip
    assert answered(hooks.program("GET", f"/v2/manage/webhooks/{made['Id']}"))["Headers"] == values["Headers"]
    row = stored(hooks)
    for secret in ("header-value", "query-value", "X-Key", "open sesame", made["SigningSecret"]):
        assert secret not in str(dict(row._mapping)), secret


def test_hostile_header_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    reserved = ("Host", "content-length", "Content-Type", "Transfer-Encoding", "CONNECTION", "Keep-Alive", "TE", "Upgrade",
                "Signature", "webhook-id", "Webhook-Signature", "CE-id", "Proxy-Authorization", "Expect")  # fmt: skip
    malformed = ("", "a b", "a:b", "a\r\nb", "\u00e4", "a\u0000", "a(b)", "a\tb")
    hostile: list[dict[str, Any]] = [{name: "x"} for name in (*reserved, *malformed)]
    values = ("a\r\nX-Evil: 1", "a\nb", "\u0000", "\u00e4", " a", "a\t", "\u2028", "a\x7f")
    hostile += [{"X-Key": value} for value in values]
    hostile += [
        {f"X-{number}": "x" for number in range(21)},
        {"X-Key": "v" * 4_000},
        {"X" * 101: "v"},
        {"X-A": "1", "x-a": "2"},
    ]
    for headers in hostile:
        with subtests.test(str(headers)[:60]):
            answer = hooks.program(
                "POST", "/v2/manage/webhooks", {"Event": "Login", "TargetUrl": TARGET, "Headers": headers}
            )
            assert refused(answer) in REFUSED, answer.text
            assert refused(answer) == DANGEROUS or "Headers" in answer.get_json()["Description"]
    for wrong in (["X-Key"], "X-Key", {"X-Key": 1}, {"X-Key": None}, {"X-Key": ["v"]}):
        with subtests.test(str(wrong)):
            answer = hooks.program(
                "POST", "/v2/manage/webhooks", {"Event": "Login", "TargetUrl": TARGET, "Headers": wrong}
            )
            assert refused(answer) == MALFORMED
    assert hooks.listed() == []


def test_hostile_query_parameter_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    hostile: list[Any] = [
        {"": "x"},
        {"a\nb": "x"},
        {"a": "\u0000"},
        {"a": "\ud800"},
        {f"p{number}": "x" for number in range(21)},
    ]
    hostile += [{"a": "v" * 4_000}, {"a": 1}, [], "a=b", {"a": {"b": "c"}}]
    for parameters in hostile:
        with subtests.test(str(parameters)[:60].encode("ascii", "replace").decode()):
            answer = hooks.program(
                "POST", "/v2/manage/webhooks", {"Event": "Login", "TargetUrl": TARGET, "QueryParams": parameters}
            )
            assert answer.status_code == 400
    assert hooks.listed() == []


def test_harmless_additions_are_stored(hooks: Webhooks) -> None:
    made = hooks.created(Headers={"X-Empty": "", "Authorization": "Key a b"}, QueryParams={"a b&c=d": "\u00fc #?&"})
    assert made["Headers"] == {"X-Empty": "", "Authorization": "Key a b"}
    assert made["QueryParams"] == {"a b&c=d": "\u00fc #?&"}


def test_authentication_without_its_part_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    bearer, basic = "Authentication.BearerToken.Token", "Authentication.BasicAuth."
    refusals: tuple[tuple[Any, str], ...] = (
        ({"AuthType": "Bearer"}, bearer),
        ({"AuthType": "Bearer", "BasicAuth": BASIC["BasicAuth"]}, bearer),
        ({"AuthType": "Bearer", "BearerToken": {"Token": "a b"}}, bearer),
        ({"AuthType": "Bearer", "BearerToken": {"Token": "a\r\nb"}}, bearer),
        ({"AuthType": "Bearer", "BearerToken": {"Token": "********"}}, bearer),
        ({"AuthType": "Basic"}, f"{basic}Username"),
        ({"AuthType": "Basic", "BasicAuth": {"Username": "a:b", "Password": "x"}}, f"{basic}Username"),
        ({"AuthType": "Basic", "BasicAuth": {"Username": "a\n", "Password": "x"}}, f"{basic}Username"),
        ({"AuthType": "Basic", "BasicAuth": {"Username": "a"}}, f"{basic}Password"),
        ({"AuthType": "Basic", "BasicAuth": {"Username": "a", "Password": "x\n"}}, f"{basic}Password"),
        ({"AuthType": "Digest"}, "AuthType"),
        ({"AuthType": 1}, "AuthType"),
        ("Basic", "Authentication"),
    )
    for authentication, member in refusals:
        with subtests.test(str(authentication)):
            answer = hooks.program(
                "POST", "/v2/manage/webhooks", {"Event": "Login", "TargetUrl": TARGET, "Authentication": authentication}
            )
            assert refused(answer) == MALFORMED, answer.text
            assert member.lower() in answer.get_json()["Description"].lower().replace("_", "")
    assert hooks.listed() == []


def test_authorization_header_beside_authentication_is_refused(hooks: Webhooks) -> None:
    body = {"Event": "Login", "TargetUrl": TARGET, "Headers": {"authorization": "x"}, "Authentication": BEARER}
    assert refused(hooks.program("POST", "/v2/manage/webhooks", body)) == MALFORMED


@pytest.mark.parametrize("spelling", ["bearer", "BEARER"])
def test_authentication_type_is_read_in_any_letter_case(hooks: Webhooks, spelling: str) -> None:
    assert hooks.created(Authentication={**BEARER, "AuthType": spelling})["Authentication"]["AuthType"] == "Bearer"


def test_secret_of_a_former_authentication_is_gone(hooks: Webhooks) -> None:
    made = hooks.created(Authentication=BASIC)
    path = f"/v2/manage/webhooks/{made['Id']}"
    shown = answered(hooks.program("PUT", path, {"Authentication": BEARER}))["Authentication"]
    assert (shown["BasicAuth"]["Password"], shown["BearerToken"]["Token"]) == (None, "********")
    without = {"AuthType": "Basic", "BasicAuth": {"Username": "ada"}}
    assert refused(hooks.program("PUT", path, {"Authentication": without})) == MALFORMED
    answered(hooks.program("PUT", path, {"Name": "without"}))
    assert refused(hooks.program("PUT", path, {"Authentication": {"AuthType": "Bearer"}})) == MALFORMED


@pytest.mark.both_databases
def test_update_replaces_all_but_url_event_and_secrets(hooks: Webhooks) -> None:
    made = hooks.created(Name="Shop", Headers={"X-A": "1"}, Authentication=BEARER, SecretName="shop", IsEnabled=False)
    kept = {"AuthType": "Bearer", "BearerToken": {"Token": "********"}}
    changed = answered(
        hooks.program("PUT", f"/v2/manage/webhooks/{made['Id']}", {"Format": "CloudEvents", "Authentication": kept})
    )
    assert changed["Authentication"]["BearerToken"] == {"Token": "********"}
    assert (changed["Name"], changed["Headers"], changed["SecretName"], changed["IsEnabled"]) == (None, {}, None, True)
    assert (changed["Format"], changed["TargetUrl"], changed["Event"]) == ("CloudEvents", TARGET, "Login")


def test_update_cannot_change_url_event_or_origin(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    path = f"/v2/manage/webhooks/{hooks.created()['Id']}"
    for member, value in (("TargetUrl", "https://evil.example/"), ("Event", "Register")):
        with subtests.test(member):
            assert refused(hooks.program("PUT", path, {"Name": "n", member: value})) == MALFORMED
    answered(hooks.program("PUT", path, {"Name": "n", "TargetUrl": TARGET, "Event": "login"}))
    answered(
        hooks.program(
            "PUT",
            path,
            {"Name": "n", "IsIntegrationWebhook": True, "SigningSecret": "mine"},
        )
    )
    (shown,) = hooks.listed()
    assert (shown["TargetUrl"], shown["Event"], shown["IsIntegrationWebhook"]) == (TARGET, "Login", False)


@pytest.mark.both_databases
def test_former_signing_secret_stays_for_a_day(hooks: Webhooks) -> None:
    manage = manager_of(lambda **_: hooks.tenant, WEBHOOKS)
    made = hooks.created()
    now = hooks.tenant.services.clock.now()
    rotated = answered(hooks.program("POST", f"/v2/manage/webhooks/{made['Id']}/rotate-secret"))
    assert rotated["SigningSecret"].startswith("whsec_")
    assert rotated["SigningSecret"] != made["SigningSecret"]
    assert iso(now) < rotated["FormerSigningSecretUntil"]
    assert set(manage.secrets()) == {made["SigningSecret"], rotated["SigningSecret"]}
    with moved(hooks.tenant.services, hours=1):
        later = Webhooks(hooks.tenant)
        again = answered(later.program("POST", f"/v2/manage/webhooks/{made['Id']}/rotate-secret"))
        assert again["FormerSigningSecretUntil"] > rotated["FormerSigningSecretUntil"]
        assert set(manage.secrets()) == {rotated["SigningSecret"], again["SigningSecret"]}
        assert answered(later.program("GET", f"/v2/manage/webhooks/{made['Id']}"))["SigningSecret"] == "********"


def test_signing_secret_names_are_those_of_the_item(hooks: Webhooks) -> None:
    made = hooks.created()
    answered(hooks.program("POST", f"/v2/manage/webhooks/{made['Id']}/rotate-secret"))
    manage = manager_of(lambda **_: hooks.tenant, WEBHOOKS)
    assert len(manage.secrets()) == 2
    assert {SIGNING_SECRET, FORMER_SIGNING_SECRET} == {"signing_secret", "former_signing_secret"}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_malformed_id_differs_from_an_unknown_one(hooks: Webhooks, method: str) -> None:
    body = {"Name": "n"} if method == "PUT" else None
    assert refused(hooks.program(method, "/v2/manage/webhooks/00000000-0000-0000-0000-000000000000", body)) == UNKNOWN
    for malformed in ("a%20b", "a" * 101, "%27--", "..%2Fx", "%00"):
        assert hooks.program(method, f"/v2/manage/webhooks/{malformed}", body).status_code in (400, 404)
    assert refused(hooks.program(method, "/v2/manage/webhooks/a%20b", body)) == MALFORMED


def test_webhook_of_another_tenant_is_unknown(hooks: Webhooks, globex: TenantServer) -> None:
    made, other = hooks.created(), Webhooks(globex)
    for method, path in (("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/rotate-secret")):
        body = {"Name": "n"} if method == "PUT" else None
        assert refused(other.program(method, f"/v2/manage/webhooks/{made['Id']}{path}", body)) == UNKNOWN
    assert other.listed() == []
    assert other.created()["Id"] != made["Id"]


def test_each_write_needs_to_read_profiles_too(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    made = hooks.created(IsEnabled=False)
    without = machine(hooks.tenant, *(scope for scope in SCOPES if scope != "profile:read"))
    path = f"/v2/manage/webhooks/{made['Id']}"
    writes = (
        ("POST", "/v2/manage/webhooks", {"Event": "Register", "TargetUrl": TARGET}), ("PUT", path, {"IsEnabled": True}),
        ("POST", f"{path}/rotate-secret", None), ("DELETE", path, None),
    )  # fmt: skip
    for method, address, body in writes:
        with subtests.test(f"{method} {address}"):
            answer = ask(hooks.tenant, without, method, address, body)
            assert refused(answer) == LACKS
            assert "profile:read" in answer.get_json()["Description"]
    assert len(answered(ask(hooks.tenant, without, "GET", "/v2/manage/webhooks"))["Data"]) == 1
    assert hooks.listed()[0]["IsEnabled"] is False
