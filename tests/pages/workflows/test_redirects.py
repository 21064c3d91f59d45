"""People whom a workflow sends to a page of the tenant, and the signed results with which they come back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.support.accounts.mailbox import code_in, mails_to
from tests.support.fakes.https_receiver import https_receiver
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor
from tests.support.workflows.drawings import drawing, node, sequence
from tests.support.workflows.redirecting import PAGE, RedirectingServer, come_back, left_for, state_in
from tests.support.workflows.running import DENIAL, deleted, put_in_force, runs, server_of, stored

TRY_AGAIN = "Sign-in didn’t finish"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def kyc(server: TenantServer, ada: Person) -> Iterator[RedirectingServer]:
    with https_receiver() as receiver:
        asked = RedirectingServer(server, receiver, ada.uid)
        asked.redirects()
        yield asked


@pytest.fixture
def shop(world: World, kyc: RedirectingServer) -> RelyingParty:
    put_in_force(kyc.tenant, kyc.workflow(claims=["tier"], profile_fields=["Company"]))
    return world.application("Shop")


def by_password(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


def claims_at(shop: RelyingParty, page: VisitedPage) -> dict[str, Any]:
    return claims_in(shop.redeem(page.query["code"]).get_json()["id_token"])


@pytest.mark.both_databases
def test_result_brings_claims_and_fields(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    assert left_for(page).startswith(f"{PAGE}&state=")
    assert "kyc.acme.example" in page.text
    state = state_in(page)
    page = come_back(
        page, state=state, result=kyc.result(state, Claims={"tier": "gold"}, Profile={"Company": "Engines"})
    )
    assert claims_at(shop, page)["tier"] == "gold"
    assert kyc.tenant.read(ada.uid)["Company"] == "Engines"
    (call,) = kyc.calls()
    assert call["SignIn"]["ReturnUrl"] == f"{visitor.home}/continue"
    assert [run["outcome"] for run in runs(kyc.tenant)][-1] == "passed"


def test_account_pages_stay_closed_until_the_return(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.open("/login"), ada)
    for path in ("/profile", "/security"):
        assert left_for(visitor.open(path)).startswith(PAGE)
    assert visitor.authorize(shop, prompt="none").query["error"] == "interaction_required"
    state = state_in(page)
    assert come_back(page, state=state, result=kyc.result(state)).address.endswith("/profile")
    assert len(kyc.receiver.received) == 1


def test_state_is_the_same_after_reload(shop: RelyingParty, visitor: Visitor, ada: Person) -> None:
    page = by_password(visitor.authorize(shop), ada)
    assert state_in(visitor.open(page.address)) == state_in(page)
    assert visitor.open("/continue").status in (302, 410)


BAD: dict[str, Callable[[RedirectingServer, str], str]] = {
    "none": lambda _, __: "",
    "no JWT": lambda _, __: "gold",
    "too long": lambda kyc, state: kyc.result(state, jti="x" * 6_000),
    "no signature": lambda kyc, state: f"{kyc.result(state).rpartition('.')[0]}.",
    "alg none": lambda kyc, state: f"eyJhbGciOiJub25lIn0.{kyc.result(state).split('.')[1]}.",
    "RS256": lambda kyc, state: jwt.encode({"alg": "RS256"}, kyc.claims(state), RSAKey.generate_key(2048), algorithms=["RS256"]),
    "HS512": lambda kyc, state: jwt.encode({"alg": "HS512"}, kyc.claims(state), kyc.key(), algorithms=["HS512"]),
    "other type": lambda kyc, state: jwt.encode({"alg": "HS256", "typ": "at+jwt"}, kyc.claims(state), kyc.key()),
    "other secret": lambda kyc, state: jwt.encode({"alg": "HS256"}, kyc.claims(state), kyc.key("other")),
    "expired": lambda kyc, state: kyc.result(state, exp=kyc.claims(state)["exp"] - 400),
    "no expiry": lambda kyc, state: kyc.result(state, exp=None),
    "late expiry": lambda kyc, state: kyc.result(state, exp=kyc.claims(state)["exp"] + 400),
    "from tomorrow": lambda kyc, state: kyc.result(state, nbf=kyc.claims(state)["exp"]),
    "other account": lambda kyc, state: kyc.result(state, sub="0" * 32),
    "no account": lambda kyc, state: kyc.result(state, sub=None),
    "other state": lambda kyc, state: kyc.result(f"{state}x"),
    "no state": lambda kyc, _: kyc.result(""),
}  # fmt: skip


def test_result_that_cannot_be_verified_never_counts(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person, subtests: pytest.Subtests
) -> None:
    put_in_force(kyc.tenant, kyc.workflow(on_failure="continue"))
    page = by_password(visitor.authorize(world.application("Shop")), ada)
    state = state_in(page)
    for name, make in BAD.items():
        with subtests.test(name):
            refused = come_back(page, state=state, result=make(kyc, state))
            assert (refused.status, refused.heading) == (400, TRY_AGAIN)
            assert state_in(refused.follow("Try again")) == state
    assert {uid for uid, _ in entries_of(kyc.tenant, "workflow.result_refused")} == {ada.uid}
    assert [run["outcome"] for run in runs(kyc.tenant) if "failures" in run] == []
    assert come_back(page, state=state, result=kyc.result(state)).query["code"]


def test_refused_result_is_recorded_without_values(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    come_back(page, state=state, result=kyc.result(state, sub="0" * 32))
    come_back(page, state=state, result=kyc.result(state, exp=1))
    facts = [facts for _, facts in entries_of(kyc.tenant, "workflow.result_refused")]
    assert [(item["node"], item["problem"]) for item in facts] == [("ask", "sub"), ("ask", "exp")]


def test_result_counts_once(shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    result = kyc.result(state, Claims={"tier": "gold"})
    assert come_back(page, state=state, result=result).query["code"]
    come_back(page, state=state, result=kyc.result(state, "deny"))
    assert visitor.authorize(shop, prompt="none").query["code"], "the session is as it was"
    again = visitor.authorize(shop, prompt="login").press("Continue", password=ada.password)
    refused = come_back(again, state=state_in(again), result=result)
    assert refused.status == 400, "another sign-in has another state"


@pytest.mark.both_databases
def test_one_of_concurrent_results_counts(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    results = [kyc.result(state, Claims={"tier": f"tier {number}"}) for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        pages = list(pool.map(lambda result: come_back(page, state=state, result=result), results))
    assert all(item.status != 400 for item in pages), "the others go on"
    assert len(entries_of(kyc.tenant, "workflow.result")) == 1
    assert visitor.authorize(shop, prompt="none").query["code"]


@pytest.mark.both_databases
def test_one_of_concurrent_results_counts_in_an_interaction(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    stored(kyc.tenant, kyc.workflow(), "Strict")
    by_password(visitor.open("/login"), ada)
    page = visitor.authorize(world.application("Shop", workflows=["Strict"]))
    state = state_in(page)
    results = [kyc.result(state, jti=str(number)) for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert all(
            item.status != 400 for item in pool.map(lambda text: come_back(page, state=state, result=text), results)
        )
    assert len(entries_of(kyc.tenant, "workflow.result")) == 1


def test_other_browser_starts_again(
    shop: RelyingParty,
    kyc: RedirectingServer,
    visitor: Visitor,
    ada: Person,
    world: World,
    new_visitor_at: NewVisitorAt,
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    other = new_visitor_at(world)
    by_password(other.open("/login"), ada)
    assert other.open(f"/continue?state={state}&result={kyc.result(state)}").status == 410
    assert [run for run in runs(kyc.tenant) if run["outcome"] == "passed"] == []
    assert come_back(page, state=state, result=kyc.result(state)).query["code"]


def test_denial_on_return_shows_its_text(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    page = come_back(page, state=state, result=kyc.result(state, "deny", Text=DENIAL))
    assert DENIAL["en"] in page.text
    assert left_for(by_password(page.follow("Back to sign in"), ada)).startswith(PAGE), (
        "a new sign-in asks the server again"
    )


def test_step_up_on_return_asks_for_a_factor_once(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person, world: World
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    state = state_in(page)
    page = come_back(page, state=state, result=kyc.result(state, "step_up", Claims={"tier": "gold"}))
    page = page.press(
        "Sign in" if "identifier" in page.html else "Continue", identifier=ada.email, password=ada.password
    )
    page = page.press("Verify", code=code_in(mails_to(world.services, world.tenant_id, ada.email)[-1]))
    assert claims_at(shop, page)["tier"] == "gold"
    assert len(kyc.receiver.received) == 1, "nobody is sent to the page twice"


def test_new_sign_in_after_the_return_asks_no_server(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    nodes = [
        node("start", "Start"),
        node("login", "Login"),
        kyc.node(),
        node("risk", "Risk"),
        node("end", "SuccessFinalNode"),
    ]
    paths = (
        "start -> login",
        "login -> ask",
        "ask -> risk",
        *(f"risk.{level} -> end" for level in ("low", "medium", "high")),
    )
    put_in_force(kyc.tenant, drawing(nodes, *paths))
    page = by_password(visitor.authorize(world.application("Shop")), ada)
    state = state_in(page)
    page = come_back(page, state=state, result=kyc.result(state))
    page = page.press(
        "Continue" if "Confirm" in page.heading else "Sign in", identifier=ada.email, password=ada.password
    )
    assert page.query["code"]
    assert len(kyc.receiver.received) == 1


@pytest.mark.parametrize(
    ("members", "problem"),
    [
        ({"action": "redirect", "Url": PAGE}, "malformed: Action"), ({"Claims": {"tier": "gold"}}, "undeclared: Claims.tier"),
        ({"Profile": {"Company": "x"}}, "undeclared: Profile.Company"), ({"action": "allow"}, "malformed: Action"),
        ({"Allow": True}, "malformed: Allow"), ({"action": "deny", "Text": {"en": ""}}, "malformed: Text"),
    ],
)  # fmt: skip
def test_signed_result_that_is_no_answer_fails_the_call(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person, members: dict[str, Any], problem: str
) -> None:
    nodes = [
        node("start", "Start"),
        node("login", "Login"),
        kyc.node(),
        node("no", "Deny", text=DENIAL),
        node("end", "SuccessFinalNode"),
    ]
    put_in_force(kyc.tenant, drawing(nodes, "start -> login", "login -> ask", "ask -> end", "ask.failure -> no"))
    page = by_password(visitor.authorize(world.application("Shop")), ada)
    state = state_in(page)
    assert DENIAL["en"] in come_back(page, state=state, result=kyc.result(state, **members)).text
    assert runs(kyc.tenant)[-1]["failures"]["ask"].startswith(problem)


@pytest.mark.parametrize("prompt", [None, "login"])
def test_session_passes_the_redirect_of_an_application(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person, prompt: str | None
) -> None:
    stored(kyc.tenant, kyc.workflow(claims=["tier"]), "Strict")
    shop = world.application("Shop", workflows=["Strict"])
    assert by_password(visitor.open("/login"), ada).address.endswith("/profile")
    assert visitor.authorize(shop, prompt="none").query["error"] == "interaction_required"
    assert kyc.calls()[-1]["SignIn"]["ReturnUrl"] is None
    kyc.receiver.received.clear()
    page = visitor.authorize(shop, prompt=prompt)
    page = page if prompt is None else page.press("Continue", password=ada.password)
    state = state_in(page)
    page = come_back(page, state=state, result=kyc.result(state, Claims={"tier": "gold"}))
    assert claims_at(shop, page)["tier"] == "gold"
    assert len(kyc.receiver.received) == 1, "the case that the page has open is that of the first call"
    assert visitor.open("/profile").address.endswith("/profile")


def test_session_passes_the_redirect_of_the_default_workflow(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    stored(kyc.tenant, sequence(), "Easy")
    put_in_force(kyc.tenant, kyc.workflow(), "Default")
    assert by_password(visitor.authorize(world.application("Shop", workflows=["Easy"])), ada).query["code"]
    page = visitor.open("/profile")
    state = state_in(page)
    assert come_back(page, state=state, result=kyc.result(state)).address.endswith("/profile")
    assert len(kyc.receiver.received) == 1


def test_new_sign_in_after_a_denial_asks_again(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    stored(kyc.tenant, sequence(), "Easy")
    put_in_force(kyc.tenant, kyc.workflow(), "Default")
    by_password(visitor.authorize(world.application("Shop", workflows=["Easy"])), ada)
    page = visitor.open("/login?return_url=/profile")
    state = state_in(page)
    page = come_back(page, state=state, result=kyc.result(state, "deny", Text=DENIAL))
    assert DENIAL["en"] in page.text
    page = page.follow("Back to sign in")
    page = page.press("Continue", password=ada.password) if "Confirm" in page.heading else by_password(page, ada)
    assert left_for(page).startswith(PAGE)


def test_other_account_does_not_inherit_what_one_passed(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    stored(kyc.tenant, kyc.workflow(claims=["tier"]), "Strict")
    shop, bob = world.application("Shop", workflows=["Strict"]), world.person("bob@example.com")
    by_password(visitor.open("/login"), ada)
    page = visitor.authorize(shop)
    state = state_in(page)
    come_back(page, state="", result="")
    interaction = state.partition(".")[0]
    visitor.forget("session")
    page = visitor.open(f"/login?attempt={interaction}").press("Sign in", identifier=bob.email, password=bob.password)
    assert len(kyc.receiver.received) == 2, "the server is asked about Bob"
    assert come_back(page, state=state, result=kyc.result(state)).status == 400


def test_two_tabs_each_reach_their_application(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    first = by_password(visitor.authorize(shop), ada)
    second = visitor.authorize(shop)
    states = state_in(first), state_in(second)
    assert states[0] != states[1]
    assert come_back(second, state=states[1], result=kyc.result(states[1])).query["code"]
    assert come_back(first, state=states[0], result=kyc.result(states[0])).query["code"]
    assert len(kyc.receiver.received) == 1


def test_return_after_hours_still_counts(
    shop: RelyingParty, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    page = by_password(visitor.authorize(shop), ada)
    pass_time(kyc.tenant.services, minutes=25)
    state = state_in(page)
    assert come_back(page, state=state, result=kyc.result(state)).query["code"]


def test_deleted_workflow_ends_the_sign_in_on_return(
    world: World, kyc: RedirectingServer, visitor: Visitor, ada: Person
) -> None:
    made = put_in_force(kyc.tenant, kyc.workflow())
    page = by_password(visitor.authorize(world.application("Shop")), ada)
    state = state_in(page)
    kyc.tenant.change_settings(default_workflow=None)
    deleted(kyc.tenant, made)
    assert "You can’t sign in right now" in come_back(page, state=state, result=kyc.result(state)).text
