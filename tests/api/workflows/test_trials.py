"""A draft of a workflow is tried on past sign-ins: what it would have done with each, counted by node."""

from __future__ import annotations

import tracemalloc
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import pytest

from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.facts import FACTS
from app.identity.administration.workflows import workflow_trials
from app.identity.administration.workflows.rehearsal import past_facts, past_sign_ins
from app.identity.credentials import credential_store
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused
from tests.support.workflows.called_server import CalledServer
from tests.support.workflows.drawings import branching, drawing, node, sequence
from tests.support.workflows.past_sign_ins import OLDER, WrittenSignIn, facts, write

TRY = "/v2/manage/workflows/try"
MONTH = 10_000
PARTNERS = "203.0.113.0/24"


def tried(tenant: TenantServer, draft: Any, *scopes: str, **members: Any) -> dict[str, Any]:
    token = machine(tenant, *(scopes or ("workflow:read", "profile:read")))
    return answered(ask(tenant, token, "POST", TRY, {"Data": draft, **members}))


def step(trial: dict[str, Any], node_id: str) -> dict[str, Any]:
    """Return the counts of a node, those that are not 0."""
    (found,) = [item for item in trial["Steps"] if item["Node"] == node_id]
    return {name: value for name, value in found.items() if value and name not in ("Node", "Type", "Label")}


def totals(trial: dict[str, Any]) -> tuple[int, ...]:
    return tuple(trial[name] for name in ("SignIns", "Passed", "Stopped", "Unknown", "AskedForFactor"))


def draft_of_month() -> dict[str, Any]:
    nodes = [
        node("start", "Start"), node("login", "Login"), node("abroad", "Condition", expression="sign_in.is_new_country"),
        node("refused", "Deny", text={"en": "Not from there."}),
        node("partner", "Condition", expression=f"request.ip in_network '{PARTNERS}' and account.logins < 10"),
        node("mfa", "MFA", label="Partners"), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    return drawing(
        nodes, "start -> login", "login -> abroad", "abroad.true -> refused", "abroad.false -> partner", "partner.true -> mfa",
        "partner.false -> end", "mfa -> end",
    )  # fmt: skip


def month(now: datetime, uid: str) -> list[WrittenSignIn]:
    """Return a month of sign-ins, one each four minutes: 41 abroad, 312 of partners without a second factor, 1,000 of an older version."""
    written = []
    for number in range(MONTH):
        kept: Any = facts()
        address = "198.51.100.7"
        if number % 10 == 9:
            kept = OLDER
        elif number % 250 == 0 or number == 1:
            kept = facts(new=["browser", "country"])
        elif number % 10 == 2 and number < 3_120:
            address = "203.0.113.9"
        elif number % 10 == 3 and number < 700:
            address, kept = "203.0.113.9", facts(methods=["pwd", "mfa"])
        elif number % 10 == 4 and number < 500:
            address, kept = "203.0.113.9", facts(logins=10)
        written.append(WrittenSignIn(now - timedelta(minutes=4 * number + 1), uid, address, facts=kept))
    return written


@pytest.mark.both_databases
def test_scripted_month_is_counted_exactly(acme: TenantServer, capsys: pytest.CaptureFixture[str]) -> None:
    uid, now = str(acme.create()["Uid"]), acme.services.clock.now()
    write(acme, month(now, uid))
    write(acme, [WrittenSignIn(now - timedelta(days=31), uid)])
    write(acme, [WrittenSignIn(now - timedelta(days=1), uid)], event="event.UpdateProfile")
    began = monotonic()
    trial = tried(acme, draft_of_month())
    with capsys.disabled():
        print(f"\n  10,000 sign-ins tried in {monotonic() - began:.2f} s")

    assert totals(trial) == (10_000, 8_959, 41, 1_000, 312)
    assert step(trial, "start") == {"Reached": 10_000, "Outputs": {"next": 10_000}}
    assert step(trial, "abroad") == {"Reached": 10_000, "Outputs": {"false": 8_959, "true": 41}, "Unknown": 1_000}
    assert step(trial, "refused") == {"Reached": 41, "Stopped": 41}
    assert step(trial, "partner") == {"Reached": 8_959, "Outputs": {"false": 8_577, "true": 382}}
    assert step(trial, "mfa") == {"Reached": 382, "Outputs": {"next": 382}, "Asked": 312}
    assert step(trial, "end") == {"Reached": 8_959}
    assert trial["UnknownFacts"] == [{"Name": "sign_in.is_new_country", "SignIns": 1_000}]
    assert (trial["IsComplete"], trial["CurrentFacts"]) == (True, [])


def test_memory_does_not_grow_with_the_sign_ins(acme: TenantServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_sign_ins, "PAGE_SIZE", 100)
    uid, now = str(acme.create()["Uid"]), acme.services.clock.now()
    write(acme, month(now, uid)[:6_000])
    peaks = []
    for days in (1, 16):
        tried(acme, draft_of_month(), Since=(now - timedelta(days=days)).isoformat())
        tracemalloc.start()
        assert tried(acme, draft_of_month(), Since=(now - timedelta(days=days)).isoformat())["SignIns"] == 360 * days
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 500_000


@pytest.mark.both_databases
def test_page_ends_and_bound_lose_no_sign_in(acme: TenantServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(past_sign_ins, "PAGE_SIZE", 7)
    monkeypatch.setattr(workflow_trials, "MAX_SIGN_INS", 20)
    uid, now = str(acme.create()["Uid"]), acme.services.clock.now()
    write(acme, month(now, uid)[:50])
    counted, until = 0, None
    for _ in range(3):
        trial = tried(acme, sequence(), **({"Until": until} if until else {}))
        counted, until = counted + trial["SignIns"], trial["Oldest"]

    assert (counted, trial["IsComplete"]) == (50, True)


def test_other_tenants_sign_ins_are_not_counted(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    other = new_tenant_server()
    write(other, [WrittenSignIn(other.services.clock.now() - timedelta(hours=1), "someone")])

    assert totals(tried(acme, sequence())) == (0, 0, 0, 0, 0)


def test_facts_of_accounts_are_those_of_now(acme: TenantServer) -> None:
    domain, now = "partner.example", acme.services.clock.now()
    partner = str(acme.create(Email=[{"Type": "Primary", "Value": f"ada-{now:%f}@{domain}"}])["Uid"])
    other = str(acme.create()["Uid"])
    write(acme, [WrittenSignIn(now - timedelta(hours=1), uid) for uid in (partner, other, other, "deleted")])
    trial = tried(acme, branching(f"account.email_domain == '{domain}'"))

    assert totals(trial) == (4, 2, 1, 1, 0)
    assert trial["CurrentFacts"] == ["account.email_domain"]
    assert trial["UnknownFacts"] == [{"Name": "account.email_domain", "SignIns": 1}]


@pytest.mark.both_databases
def test_enrolled_factors_are_those_of_now(acme: TenantServer, called: CalledServer) -> None:
    now, other = acme.services.clock.now(), str(acme.create()["Uid"])
    with called.context() as context:
        for kind, is_enrolled in ((FactorKind.TOTP, True), (FactorKind.BACKUP_CODE, True), (FactorKind.PASSKEY, False)):
            credential_store.add(context, called.uid, kind, is_enrolled=is_enrolled)
        credential_store.add(context, other, FactorKind.BACKUP_CODE, is_enrolled=True)
    write(acme, [WrittenSignIn(now - timedelta(hours=1), uid) for uid in (called.uid, other, "deleted")])

    assert totals(tried(acme, branching("account.has_second_factor"))) == (3, 1, 1, 1, 0)
    assert totals(tried(acme, branching("account.has_passkey"))) == (3, 2, 0, 1, 0)


def test_unknown_fact_matters_only_if_it_decides(acme: TenantServer) -> None:
    now = acme.services.clock.now()
    write(acme, [WrittenSignIn(now - timedelta(hours=1), "x", facts=OLDER)])
    expressions = {
        "account.logins < 3": 1, "not (account.logins < 3)": 1, "account.logins < 3 or request.hour_utc >= 0": 0,
        "account.logins < 3 and request.hour_utc > 23": 0, "account.logins < 3 or request.hour_utc > 23": 1,
        "'read' in request.scopes": 1, "organization.id == 'x'": 1, "request.ip in_network '10.0.0.0/8'": 0,
    }  # fmt: skip
    for expression, unknown in expressions.items():
        assert tried(acme, branching(expression))["Unknown"] == unknown, expression


@pytest.mark.parametrize(
    ("methods", "login", "passkey", "requested"),
    [
        (["pwd"], "Passed", "Stopped", 1), (["pwd", "mfa"], "Passed", "Stopped", 0), (["hwk", "mfa"], "Stopped", "Passed", 0),
        (["fed"], "Stopped", "Stopped", 1), (None, "Unknown", "Unknown", 0), (["of a later version"], "Unknown", "Unknown", 1),
    ],
)  # fmt: skip
def test_entry_and_factor_are_judged_by_the_methods(
    acme: TenantServer, methods: list[str] | None, login: str, passkey: str, requested: int
) -> None:
    now = acme.services.clock.now()
    kept = facts(methods=methods) if methods else OLDER
    write(acme, [WrittenSignIn(now - timedelta(hours=1), "x", facts=kept)])
    by_password = sequence()
    by_password["nodes"][1]["data"] = {"methods": ["password", "email"]}
    by_passkey = sequence()
    by_passkey["nodes"][1]["type"] = "PasskeyLogin"

    assert tried(acme, by_password)[login] == 1
    assert tried(acme, by_passkey)[passkey] == 1
    assert tried(acme, sequence(node("mfa", "MFA")))["AskedForFactor"] == requested


def test_second_factor_is_asked_for_once(acme: TenantServer) -> None:
    write(acme, [WrittenSignIn(acme.services.clock.now() - timedelta(hours=1), "x")])
    trial = tried(acme, sequence(node("first", "MFA"), node("second", "MFA")))

    assert trial["AskedForFactor"] == step(trial, "first")["Asked"] == 1
    assert "Asked" not in step(trial, "second")


@pytest.mark.parametrize(("new", "output"), [([], "low"), (["city"], "medium"), (["browser", "country"], "high")])
def test_risk_follows_the_new_signals(acme: TenantServer, new: list[str], output: str) -> None:
    write(acme, [WrittenSignIn(acme.services.clock.now() - timedelta(hours=1), "x", facts=facts(new=new))])
    nodes = [node("start", "Start"), node("login", "Login"), node("risk", "Risk"), node("end", "SuccessFinalNode")]
    paths = [f"risk.{level} -> end" for level in ("low", "medium", "high")]

    assert step(tried(acme, drawing(nodes, "start -> login", "login -> risk", *paths)), "risk")["Outputs"] == {
        output: 1
    }


def test_missing_fields_and_terms_would_be_asked(acme: TenantServer) -> None:
    versions = [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]
    acme.change_settings(privacy_policy={"mode": "moderated", "versions": versions})
    now = acme.services.clock.now()
    complete, lacking = str(acme.create(Company="Engines")["Uid"]), str(acme.create()["Uid"])
    write(acme, [WrittenSignIn(now - timedelta(hours=1), uid) for uid in (complete, lacking)])
    trial = tried(acme, sequence(node("form", "ProfileForm", fields=["company"])))
    assert (trial["AskedToAct"], trial["Passed"]) == (1, 2)
    trial = tried(acme, sequence(node("terms", "Terms"), node("consent", "Consent")))

    assert (trial["AskedToAct"], step(trial, "consent")["Unknown"]) == (2, 2)


@pytest.mark.parametrize(
    ("assumed", "on_failure", "expected"),
    [
        ("Unknown", "continue", (1, 0, 0, 1, 0)), ("Continue", "deny", (1, 1, 0, 0, 0)), ("Deny", "continue", (1, 0, 1, 0, 0)),
        ("Failure", "continue", (1, 1, 0, 0, 0)), ("Failure", "deny", (1, 0, 1, 0, 0)), ("Failure", "step_up", (1, 1, 0, 0, 1)),
    ],
)  # fmt: skip
def test_call_is_assumed_and_not_made(
    acme: TenantServer, assumed: str, on_failure: str, expected: tuple[int, ...]
) -> None:
    write(acme, [WrittenSignIn(acme.services.clock.now() - timedelta(hours=1), "x")])
    call = node("ask", "HttpCall", url="https://nowhere.invalid/ask", on_failure=on_failure)

    assert totals(tried(acme, sequence(call), AssumeCalls=assumed)) == expected


def test_real_sign_in_is_tried_by_what_it_left(acme: TenantServer) -> None:
    email = "ada-of-trials@example.test"
    acme.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=True)
    answered(
        acme.send("POST", "/identity/v2/auth/login", {"email": email, "password": "Zebra-kettle-91"}, with_secret=False)
    )
    trial = tried(acme, branching("'password' in sign_in.methods and account.has_password and account.logins == 0"))

    assert totals(trial) == (1, 0, 1, 0, 0)


def test_every_fact_can_be_read() -> None:
    assert set(FACTS) == set(past_facts.READERS)


@pytest.mark.parametrize(
    "members",
    [
        {"Data": {}}, {"Data": {"nodes": [], "edges": []}}, {"Data": drawing([node("a", "Start"), node("b", "Foreign")], "a -> b")},
        {"Data": branching("account.shoe_size == 4")}, {"Data": sequence(), "Since": "yesterday"},
        {"Data": sequence(), "Since": "2027-01-02", "Until": "2027-01-01"}, {"Data": sequence(), "Until": "0001-01-01T00:00:00+14:00"},
        {"Data": sequence(), "Since": "9999-12-31T23:59:59-14:00"}, {"Data": sequence(), "AssumeCalls": "Maybe"},
        {"Data": sequence(), "Speed": "fast"}, {"Since": "2027-01-01"},
    ],
)  # fmt: skip
def test_malformed_draft_or_time_is_refused(acme: TenantServer, members: dict[str, Any]) -> None:
    assert refused(ask(acme, machine(acme, "workflow:read"), "POST", TRY, members)) == (400, 7900)


def test_first_year_is_a_long_time_ago(acme: TenantServer) -> None:
    assert tried(acme, sequence(), Since="0001-01-01T00:00:00+14:00")["SignIns"] == 0


def test_draft_about_accounts_needs_the_profile_scope(acme: TenantServer) -> None:
    token = machine(acme, "workflow:read")
    for draft in (branching("account.uid == 'x'"), sequence(node("form", "ProfileForm", fields=["company"]))):
        assert ask(acme, token, "POST", TRY, {"Data": draft}).status_code == 403
    assert ask(acme, token, "POST", TRY, {"Data": branching("request.hour_utc > 6")}).status_code == 200
    assert ask(acme, machine(acme, "profile:read"), "POST", TRY, {"Data": sequence()}).status_code == 403


def test_trials_are_limited(acme: TenantServer) -> None:
    token = machine(acme, "workflow:read")
    statuses = [ask(acme, token, "POST", TRY, {"Data": sequence()}).status_code for _ in range(22)]

    assert 429 in statuses
