"""Refused answers of identity providers are recorded for operators: by reference, for a week, within bounds, without secrets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from app.contract.federation.connection_checks import DIAGNOSES, ConnectionCheck
from app.identity.assembly.clean_up import expired_rows
from app.identity.assembly.table_modules import metadata
from app.identity.authentication.federation import connection_traces
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken, ConnectionRefused, UnknownState
from app.identity.directory.identity_provider import ProviderDenied
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.connecting import finished, led
from tests.support.accounts.connection_failures import traces_of
from tests.support.accounts.social_accounts import doing
from tests.support.fakes.forged_answers import answers, changes, claims
from tests.support.fakes.identity_provider import SECRET, FakeProvider, key
from tests.support.fakes.native_apps import an_app
from tests.support.services.identity_service import on_one_database, pass_time
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

NAME = "elsewhere"
LIST = "/v2/manage/connection-traces"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    """Return a tenant with a connection to the provider."""
    made = new_tenant_server()
    fake_provider.known_to(made, NAME)
    return made


def fail(tenant: TenantServer, upstream: FakeProvider, error: str = "access_denied") -> None:
    """Let the provider refuse a sign-in."""
    with pytest.raises(ConnectionRefused):
        finished(tenant, upstream.refuses(led(tenant, NAME), error))


def listed(tenant: TenantServer, **query: Any) -> list[dict[str, Any]]:
    data: list[dict[str, Any]] = answered(ask(tenant, machine(tenant, "provider:read"), "GET", LIST, **query))["Data"]
    return data


@pytest.mark.both_databases
def test_refused_answer_is_listed_with_advice(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.claims["aud"] = "another-client"
    with pytest.raises(ConnectionBroken):
        finished(acme, fake_provider.signs_in(led(acme, NAME)))
    (shown,) = listed(acme)
    diagnosis = DIAGNOSES[ConnectionCheck.AUD]
    assert (shown["Connection"], shown["Check"], shown["Received"]) == (NAME, "aud", "another-client")
    assert shown["Expected"].startswith("aud: ")
    assert (shown["Problem"], shown["Advice"]) == (diagnosis.problem, diagnosis.advice)
    assert shown["OrgId"] is None


@pytest.mark.both_databases
def test_failed_call_is_listed_with_its_cause(acme: TenantServer, fake_provider: FakeProvider) -> None:
    address = led(acme, NAME)
    fake_provider.answers["/token"] = (200, {}, b"<html>")
    with pytest.raises(ConnectionBroken):
        finished(acme, fake_provider.signs_in(address))
    (shown,) = listed(acme)
    assert (shown["Check"], shown["Cause"]) == ("token_endpoint", "html")
    assert (shown["Expected"], shown["Received"]) == ("a JSON object", "an HTML page")
    assert shown["Problem"] == "The provider’s token endpoint answered with an HTML page."
    assert "`token_endpoint`" in shown["Advice"]


@pytest.mark.both_databases
def test_traces_of_another_tenant_are_never_listed(
    acme: TenantServer, new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    globex = new_tenant_server()
    fake_provider.known_to(globex, NAME)
    fail(acme, fake_provider)
    assert (len(listed(acme)), listed(globex), listed(globex, connection=NAME)) == (1, [], [])
    assert listed(globex, reference=traces_of(acme)[0].reference or "-") == []


@on_one_database
def test_list_is_filtered_by_connection_and_reference(acme: TenantServer) -> None:
    for connection, reference in (("one", "REFA-REFA"), ("two", "REFB-REFB"), ("one", "REFB-REFB")):
        with doing(acme) as call:
            call.raw.request_id = reference
            refusal = ProviderDenied("no", check=ConnectionCheck.AUD, expected="aud: shop", received="another-client")
            connection_traces.record(call, connection, refusal)
    assert [item["Connection"] for item in listed(acme, reference="REFB-REFB")] == ["one", "two"]
    assert [item["Reference"] for item in listed(acme, connection="one")] == ["REFB-REFB", "REFA-REFA"]
    assert len(listed(acme, connection="one", reference="REFB-REFB")) == 1
    assert len(listed(acme, limit=2)) == 2


@on_one_database
def test_list_needs_the_scope_of_providers(acme: TenantServer) -> None:
    assert refused(ask(acme, machine(acme, "profile:read"), "GET", LIST))[0] == 403
    assert refused(ask(acme, machine(acme, "provider:read"), "GET", LIST, limit=101))[0] == 400


@pytest.mark.both_databases
def test_traces_expire_after_a_week(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fail(acme, fake_provider)
    pass_time(acme.services, days=6, hours=23)
    assert len(traces_of(acme)) == 1
    pass_time(acme.services, hours=2)
    assert traces_of(acme) == []
    expired_rows.clean(acme.services.database, acme.services.clock.now())
    assert stored(acme) == []


def stored(tenant: TenantServer, table: str = "connection_traces") -> list[Any]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        rows = metadata.tables[table]
        return list(work.all(rows.select().where(rows.c.tenant_id == tenant.tenant_id)))
    finally:
        work.rollback()


@pytest.mark.both_databases
def test_failing_connection_displaces_only_its_own_traces(acme: TenantServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_traces, "MAX_OF_CONNECTION", 3)
    monkeypatch.setattr(connection_traces, "MAX_OF_TENANT", 5)
    record(acme, ["quiet", *["loud"] * 7])
    assert [trace.connection for trace in traces_of(acme)] == ["loud", "loud", "loud", "quiet"]
    record(acme, [f"other-{number}" for number in range(9)])
    assert len(stored(acme)) == 5


def record(tenant: TenantServer, connections: Iterable[str]) -> None:
    for connection in connections:
        with doing(tenant) as call:
            connection_traces.record(call, connection, ProviderDenied("no"))
        pass_time(tenant.services, seconds=1)


@on_one_database
def test_values_of_the_provider_reach_no_terminal_or_page(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.claims["iss"] = "\x1b]0;x\x07<img src=x onerror=alert(1)>\u202e" + "a" * 9_000
    with pytest.raises(ConnectionBroken):
        finished(acme, fake_provider.signs_in(led(acme, NAME)))
    (trace,) = traces_of(acme)
    assert trace.received.isprintable()
    assert len(trace.received) == 300


STATES: dict[str, Callable[[str], str]] = {
    "of another sign-in": lambda state: f"attempt-2.{state.partition('.')[2]}",
    "of no sign-in": lambda state: state.partition(".")[2],
}


@pytest.mark.parametrize("change", STATES.values(), ids=STATES)
@on_one_database
def test_wrong_state_is_recorded(acme: TenantServer, fake_provider: FakeProvider, change: Callable[[str], str]) -> None:
    answer = fake_provider.signs_in(led(acme, NAME))
    with pytest.raises(UnknownState):
        finished(acme, {**answer, "state": change(answer["state"])})
    assert [(trace.connection, trace.failed_check) for trace in traces_of(acme)] == [(NAME, "state")]


@on_one_database
def test_unknown_or_used_state_leaves_no_trace(acme: TenantServer, fake_provider: FakeProvider) -> None:
    """Anyone can send such a state, and a person who goes back sends a used one."""
    answer = fake_provider.signs_in(led(acme, NAME))
    finished(acme, answer)
    for state in (answer["state"], "attempt-1.unknown", ""):
        with pytest.raises(UnknownState):
            finished(acme, {**answer, "state": state})
    assert traces_of(acme) == []


@on_one_database
def test_connection_removed_meanwhile_is_recorded(acme: TenantServer, fake_provider: FakeProvider) -> None:
    answer = fake_provider.signs_in(led(acme, NAME))
    acme.change_settings(connections={})
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert [trace.failed_check for trace in traces_of(acme)] == ["configuration"]


BEGINNINGS: dict[str, tuple[ConnectionCheck, dict[str, Any]]] = {
    "another issuer": (ConnectionCheck.DISCOVERY, {"metadata": {"issuer": "https://evil.example"}}),
    "no token endpoint": (ConnectionCheck.DISCOVERY, {"metadata": {"token_endpoint": None}}),
    "no JSON": (ConnectionCheck.DISCOVERY, {"answers": {"/.well-known/openid-configuration": (200, {}, b"<html>")}}),
    "a redirect": (
        ConnectionCheck.DISCOVERY, {"answers": {"/.well-known/openid-configuration": (302, {"Location": "/else"}, b"")}},
    ),
    "out of order": (ConnectionCheck.DISCOVERY, {"answers": {"/.well-known/openid-configuration": (500, {}, b"")}}),
}  # fmt: skip


@pytest.mark.parametrize(("check", "upstream"), BEGINNINGS.values(), ids=BEGINNINGS)
@on_one_database
def test_failure_before_the_redirect_is_recorded(
    acme: TenantServer, fake_provider: FakeProvider, check: ConnectionCheck, upstream: dict[str, Any]
) -> None:
    for name, value in upstream.items():
        setattr(fake_provider, name, value)
    with pytest.raises(ConnectionBroken):
        led(acme, NAME)
    assert [trace.failed_check for trace in traces_of(acme)] == [check]


def echoes(item: FakeProvider, secret: str) -> list[Callable[[], None]]:
    """Return what lets the provider repeat a secret in each place of its answers."""
    error = f'{{"error": "{secret}", "error_description": "{secret}"}}'
    return [
        lambda: claims(iss=secret)(item),
        lambda: claims(aud=[secret, "x"])(item),
        lambda: claims(azp=secret)(item),
        lambda: claims(sub=[secret])(item),
        lambda: claims(exp=secret)(item),
        lambda: changes(header=lambda _: {"kid": secret})(item),
        lambda: changes(key=key(2), header=lambda _: {"kid": key(1).kid, "typ": secret})(item),
        lambda: answers(400, error)(item),
        lambda: answers(200, f'{{"{secret}": 1}}')(item),
        lambda: changes(back={"iss": secret})(item),
        lambda: changes(back={"error": secret})(item),
        lambda: changes(back={"error": secret[:30]})(item),
    ]


@on_one_database
def test_no_secret_is_in_a_trace_or_the_log(
    acme: TenantServer, fake_provider: FakeProvider, caplog: pytest.LogCaptureFixture
) -> None:
    """The provider fails in every way, and repeats the client's secret, the code and the state wherever it can."""
    caplog.set_level("DEBUG")
    sent = fake_provider.__dict__.copy()
    known = {SECRET}
    for secret_of in (
        lambda answer: SECRET,
        lambda answer: answer["code"],
        lambda answer: answer["state"].split(".")[1],
    ):
        for number in range(len(echoes(fake_provider, "x"))):
            address = led(acme, NAME)
            answer = fake_provider.signs_in(address)
            known |= {answer["code"], answer["state"].split(".")[1], fake_provider.sent_out[answer["code"]]["nonce"]}
            echoes(fake_provider, secret_of(answer))[number]()
            with pytest.raises((ConnectionBroken, ConnectionRefused)):
                finished(acme, {**answer, **fake_provider.back})
            known |= set(fake_provider.tokens)
            fake_provider.__dict__.update({**sent, "claims": {}, "header": {}, "answers": {}, "back": {}})
    assert len(traces_of(acme)) == 3 * len(echoes(fake_provider, "x"))
    texts = [caplog.text, *(str(row) for row in stored(acme))]
    assert {secret: text for secret in known for text in texts if secret in text} == {}


@on_one_database
def test_app_gets_the_reference_in_the_answer(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider)

    def failed(provider: str, **presented: Any) -> tuple[str, str]:
        answer = app.ask(provider, **presented)
        assert answer.status_code == 403
        (trace, *_) = traces_of(app.tenant)
        assert f"Quote reference {trace.reference}." in answer.get_json()["Description"]
        return trace.connection, trace.failed_check

    assert failed("googlejwt", id_token=app.upstream.id_token(aud="another")) == ("google", "aud")
    assert failed("facebook", fb_access_token=app.upstream.access_token("another-app")) == ("facebook", "introspection")
    assert failed("apple", code="unknown")[1] in ("code", "token_endpoint")


OAUTH2: dict[str, tuple[ConnectionCheck, str, int, str]] = {
    "a token endpoint that fails": (ConnectionCheck.TOKEN_ENDPOINT, "/token", 500, ""),
    "a client that is unknown": (ConnectionCheck.TOKEN_ENDPOINT, "/token", 401, '{"error": "invalid_client"}'),
    "a code that is refused": (ConnectionCheck.CODE, "/token", 400, '{"error": "invalid_grant"}'),
    "no access token": (ConnectionCheck.TOKEN_ENDPOINT, "/token", 200, '{"token_type": "Bearer"}'),
    "a profile that is refused": (ConnectionCheck.USERINFO, "/user", 403, "{}"),
    "a profile that is no JSON": (ConnectionCheck.USERINFO, "/user", 200, "<html>"),
    "a profile without a subject": (ConnectionCheck.MAPPING, "/user", 200, '{"name": "Ada"}'),
}


@pytest.mark.parametrize(("check", "path", "status", "body"), OAUTH2.values(), ids=OAUTH2)
@on_one_database
def test_failure_of_an_oauth_provider_names_its_check(
    acme: TenantServer, fake_provider: FakeProvider, check: ConnectionCheck, path: str, status: int, body: str
) -> None:
    acme.change_settings(connections={NAME: fake_provider.oauth2()})
    address = led(acme, NAME)
    fake_provider.answers[path] = (status, {}, body.encode())
    with pytest.raises((ConnectionBroken, ConnectionRefused)):
        finished(acme, fake_provider.signs_in(address))
    assert [trace.failed_check for trace in traces_of(acme)] == [check]
