"""SOTTs (secured one-time tokens): which ones admit a registration, and for how long."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.accounts.registering import REGISTER, UNLIMITED, all_at_once, primary, register
from tests.support.accounts.sotts import encrypted, sott_of
from tests.support.services.identity_service import MovableClock
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

SOTT, SERVERINFO = "/identity/v2/manage/account/sott", "/identity/v2/serverinfo"
StatusAndCode = tuple[int, int | None]


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED)


def register_with(
    acme: TenantServer, sott: str | None, headers: dict[str, str] | None = None, email: str = "ada@example.test"
) -> StatusAndCode:
    """Register with this SOTT in the query, or with headers; return status and error code."""
    query = {"apikey": acme.api_key, **({"sott": sott} if sott is not None else {})}
    base = f"http://{acme.services.settings.api_hostname}"
    body = {"Password": PASSWORD, "Email": primary(email)}
    return refused(
        PlainClient(acme.app).post(REGISTER, json=body, query_string=query, base_url=base, headers=headers or {})
    )


def test_sott_from_service_is_accepted(acme: TenantServer) -> None:
    issued = answered(acme.send("GET", SOTT, timedifference=5))
    assert set(issued) == {"Sott", "ExpiryTime"}
    assert register_with(acme, issued["Sott"]) == (200, None)


def test_sott_from_serverinfo_times_is_accepted(acme: TenantServer) -> None:
    period = answered(acme.send("GET", SERVERINFO, with_secret=False))["Sott"]
    plain = f"{period['StartTime']}#{acme.api_key}#{period['EndTime']}".encode()
    assert register_with(acme, encrypted(plain, acme.api_secret)) == (200, None)


@pytest.mark.parametrize(
    "form",
    [
        "%Y/%m/%d %H:%M:%S",
        "%Y/%-m/%-d %-H:%-M:%-S",
        "%Y-%m-%d %H:%M:%S",
        "%Y/%m/%d %I:%M:%S %p",
        "%Y/%m/%d %I:%M:%S",
    ],
)
def test_time_formats_of_client_libraries_are_accepted(acme: TenantServer, form: str) -> None:
    assert register_with(acme, sott_of(acme, form=form)) == (200, None)


@pytest.mark.parametrize("name", ["X-Acme-Sott", "x-lr-SOTT"])
def test_sott_header_wins_over_query(acme: TenantServer, name: str) -> None:
    assert register_with(acme, sott_of(acme), {name: "nonsense"}) == (403, 1049)
    assert register_with(acme, "nonsense", {name: sott_of(acme)}) == (200, None)


def test_missing_sott_has_its_own_error_code(acme: TenantServer) -> None:
    assert register_with(acme, None) == (400, 1048)
    assert register_with(acme, "", {"X-Acme-Sott": ""}) == (400, 1048)


def test_sott_is_valid_from_five_minutes_before_start_to_end(acme: TenantServer) -> None:
    now = acme.services.clock.now()
    for start_minutes, minutes, expected in (
        (4, 10, 200),
        (6, 10, 403),
        (-11, 10, 403),
        (-10, 10.5, 200),
        (-1500, 10, 403),
    ):
        sott = sott_of(acme, start=now + timedelta(minutes=start_minutes), minutes=minutes)
        answer = acme.send("POST", REGISTER, {}, with_secret=False, sott=sott)
        assert (answer.status_code == 403) is (expected == 403), start_minutes


@pytest.mark.parametrize("hour", [1, 12])
def test_issued_sott_is_refused_after_its_end(acme: TenantServer, hour: int) -> None:
    clock = acme.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(hours=(hour - clock.now().hour) % 24)
    issued = answered(acme.send("GET", SOTT, timedifference=60))["Sott"]
    clock.advance(hours=12)
    assert register_with(acme, issued) == (403, 1049)


@pytest.mark.parametrize(("minutes", "expected"), [(129_600, 200), (129_602, 403), (60 * 24 * 365 * 100, 403)])
def test_sott_longer_than_maximum_lifetime_is_refused(acme: TenantServer, minutes: int, expected: int) -> None:
    assert register_with(acme, sott_of(acme, minutes=minutes))[0] == expected


def test_twelve_hour_times_work_across_noon_and_midnight(acme: TenantServer) -> None:
    clock = acme.services.clock
    assert isinstance(clock, MovableClock)
    for hour, minute in ((0, 5), (11, 55), (12, 5), (23, 55)):
        clock.advance(hours=(hour - clock.now().hour) % 24, minutes=minute - clock.now().minute)
        sott = sott_of(acme, form="%Y/%m/%d %I:%M:%S")
        answer = acme.send("POST", REGISTER, {}, with_secret=False, sott=sott)
        assert answer.status_code == 400, "the SOTT is accepted, the empty registration is refused"


def test_tampered_sott_is_refused(acme: TenantServer, globex: TenantServer) -> None:
    good = sott_of(acme)
    text, _, mark = good.partition("*")
    cut = base64.b64encode(base64.b64decode(text)[:-16]).decode()
    wrong = (
        sott_of(acme, secret=globex.api_secret),
        sott_of(acme, key=globex.api_key),
        sott_of(globex),
        text,
        f"{text}*{mark[:-1]}",
        f"{text}*{'0' * 32}",
        f"*{hashlib.md5(b'', usedforsecurity=False).hexdigest()}",
        f"{cut}*{hashlib.md5(cut.encode(), usedforsecurity=False).hexdigest()}",
        encrypted(b"2026/01/01 00:00:00#" + acme.api_key.encode(), acme.api_secret),
        encrypted(b"9999/99/99 99:99:99#" + acme.api_key.encode() + b"#9999/99/99 99:99:99", acme.api_secret),
        encrypted(b"\xff\xfe", acme.api_secret),
        "x" * 5_000,
        "\u0661*\u0662",
    )
    assert {register_with(acme, sott) for sott in wrong} == {(403, 1049)}


def test_unencoded_plus_in_sott_is_accepted(acme: TenantServer) -> None:
    now = acme.services.clock.now()
    # the first cipher block holds the start down to the minute
    sotts = (sott_of(acme, start=now - timedelta(minutes=minute), minutes=60) for minute in range(59))
    with_plus = next(sott for sott in sotts if "+" in sott)
    assert register_with(acme, with_plus.replace("+", " ")) == (200, None)
    leading = next((sott for sott in sotts if sott.startswith("+")), with_plus)
    assert register_with(acme, leading.replace("+", " ")) in ((200, None), (403, 936))


@pytest.mark.both_databases
def test_sott_is_reusable_in_parallel(acme: TenantServer) -> None:
    bodies: list[dict[str, Any]] = [
        {"Password": PASSWORD, "Email": primary(f"a{number}@example.test")} for number in range(8)
    ]
    answers = all_at_once(acme, REGISTER, bodies, sott=sott_of(acme))
    assert {answer.status_code for answer in answers} == {200}


def test_issuing_sott_needs_the_api_secret(acme: TenantServer) -> None:
    assert refused(acme.send("GET", SOTT, with_secret=False)) == (400, 923)


def test_disabled_registration_is_refused_without_sott(new_tenant_server: NewTenantServer) -> None:
    assert refused(register(new_tenant_server(registration=False), query={"sott": None})) == (403, 1190)


# Tokens that apps carry: POST, GET and DELETE /v2/manage/sott.

MANAGED = "/v2/manage/sott"


def managing(tenant: TenantServer) -> Callable[..., Any]:
    token = machine(tenant, "sott:read", "sott:create", "sott:delete")
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


def made(tenant: TenantServer, **members: Any) -> dict[str, Any]:
    body = {"Technology": "android", "ExpiresInMinutes": 200_000, **members}
    return dict(answered(managing(tenant)("POST", MANAGED, body)))


def test_app_token_registers_until_it_is_deleted(acme: TenantServer) -> None:
    token = made(acme, Comment="Shop 3.1")
    assert register_with(acme, token["Sott"]) == (200, None)
    assert register_with(acme, quote(token["Sott"], safe=""), email="eva@example.test") == (200, None)
    answered(managing(acme)("DELETE", f"{MANAGED}/{token['AuthenticityToken']}"))
    assert register_with(acme, token["Sott"]) == (403, 1049)
    assert refused(managing(acme)("DELETE", f"{MANAGED}/{token['AuthenticityToken']}"))[1] == 7900


def test_app_token_is_shown_once(acme: TenantServer) -> None:
    token = made(acme, IsEncoded=True)
    assert "%2A" in token["Sott"]
    listed = answered(managing(acme)("GET", MANAGED))["Data"]
    assert listed == [{**token, "Sott": "********"}]
    starts, ends = map(datetime.fromisoformat, token["DateRange"].split("/"))
    assert ends - starts == timedelta(minutes=200_000)


def test_app_token_expires(acme: TenantServer) -> None:
    token, clock = made(acme, ExpiresInMinutes=30)["Sott"], acme.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=31)
    assert register_with(acme, token) == (403, 1049)


@pytest.mark.both_databases
def test_app_token_of_another_tenant_is_refused(new_tenant_server: NewTenantServer, acme: TenantServer) -> None:
    other = new_tenant_server(limits=UNLIMITED)
    token = made(other)
    assert register_with(acme, token["Sott"]) == (403, 1049)
    assert refused(managing(acme)("DELETE", f"{MANAGED}/{token['AuthenticityToken']}"))[1] == 7900
    assert register_with(other, token["Sott"]) == (200, None)


def test_token_with_an_invented_resource_is_refused(acme: TenantServer) -> None:
    ends = (acme.services.clock.now() + timedelta(days=200)).strftime("%Y/%m/%d %H:%M:%S")
    starts = acme.services.clock.now().strftime("%Y/%m/%d %H:%M:%S")
    plain = f"{starts}#{acme.api_key}#{ends}#invented".encode()
    assert register_with(acme, encrypted(plain, acme.api_secret)) == (403, 1049)


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"ExpiresInMinutes": 0}, "ExpiresInMinutes"),
        ({"ExpiresInMinutes": 527_041}, "ExpiresInMinutes"),
        ({"Technology": ""}, "Technology"),
        ({"Comment": "x" * 501}, "Comment"),
        ({"IsEncoded": "maybe"}, "IsEncoded"),
    ],
)
def test_malformed_app_token_names_its_field(acme: TenantServer, members: dict[str, Any], named: str) -> None:
    body = {"Technology": "ios", "ExpiresInMinutes": 5, **members}
    answer = managing(acme)("POST", MANAGED, body)
    assert refused(answer) == (400, 7900)
    assert named in answer.get_json()["Description"]
