"""The workflow in force decides about the sign-ins of programs."""

from __future__ import annotations

import pytest

from app.kit.text.languages import LANGUAGES
from tests.support.accounts.mailbox import code_in
from tests.support.accounts.risky_sign_ins import CHROME, attempt_sign_in, sign_in
from tests.support.credentials.factors import second_factor_holder
from tests.support.credentials.passkeys import PasskeyHolder, passkey_holder
from tests.support.operation_cases.cases import events
from tests.support.operation_cases.sign_in_methods import EVERY, METHODS
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import drawing, node, sequence
from tests.support.workflows.running import (
    DENIAL,
    asking_for_factor,
    changed,
    deleted,
    denying,
    put_in_force,
    runs,
    signing_in_by,
)

ANYONE = "account.logins >= 0"


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    return passkey_holder(new_tenant_server, **EVERY).add_passkey()


@pytest.mark.both_databases
@pytest.mark.parametrize("name", METHODS)
def test_each_method_obeys_a_denial(ada: PasskeyHolder, name: str) -> None:
    _, act = METHODS[name]
    put_in_force(ada.tenant, denying())
    answer = act(ada)
    assert refused(answer) == (403, 8198)
    assert answer.get_json()["Description"] == DENIAL["en"]
    assert answer.get_json()["Data"] == {"Texts": DENIAL}
    assert not [name for name, _ in events(ada.tenant) if name == "Login"]
    ada.tenant.change_settings(default_workflow=None)
    answered(act(ada))


@pytest.mark.parametrize("name", METHODS)
def test_method_that_no_login_node_lists_is_refused(ada: PasskeyHolder, name: str) -> None:
    method, act = METHODS[name]
    other = "passkey" if method == "password" else "password"
    made = put_in_force(ada.tenant, signing_in_by(other))
    answer = act(ada)
    assert refused(answer) == (403, 1220)
    assert answer.get_json()["Data"]["AllowedMethods"] == [other]
    changed(ada.tenant, made, signing_in_by(other, method))
    answered(act(ada))


def test_run_is_recorded_with_its_path(ada: PasskeyHolder) -> None:
    made = put_in_force(ada.tenant, denying())
    refused(ada.logs_in())
    (run,) = runs(ada.tenant)
    assert run["path"] == ["start:next", "login:next", "new:true", "refused"]
    assert (run["workflow"], run["version"], run["outcome"]) == (made["Id"], 1, "denied")
    changed(ada.tenant, made, sequence())
    answered(ada.logs_in())
    assert runs(ada.tenant)[-1]["outcome"] == "passed"
    assert runs(ada.tenant)[-1]["version"] == 2


def test_mailed_code_is_the_factor_without_an_enrolled_one(ada: PasskeyHolder) -> None:
    put_in_force(ada.tenant, asking_for_factor(ANYONE, "email"))
    answer = ada.logs_in()
    assert refused(answer) == (403, 1166)
    token = answer.get_json()["Data"]["SecondFactorAuthenticationToken"]
    answered(ada.answer_challenge("email", {"otp": code_in(ada.mailed())}, token))
    assert [run["outcome"] for run in runs(ada.tenant)] == ["factor", "passed"]


def test_passkey_that_verified_its_user_is_two_factors(ada: PasskeyHolder) -> None:
    put_in_force(ada.tenant, asking_for_factor(ANYONE, "passkey", "totp"))
    answered(ada.sign_in())


@pytest.mark.parametrize(
    ("factors", "needed"),
    [(("totp",), "an authenticator app"), (("passkey",), "a passkey"), (("totp", "duo"), "two-step verification")],
)
def test_account_without_an_accepted_factor_reads_what_it_lacks(
    ada: PasskeyHolder, factors: tuple[str, ...], needed: str
) -> None:
    put_in_force(ada.tenant, asking_for_factor(ANYONE, *factors))
    answer = ada.logs_in()
    assert refused(answer) == (403, 8198)
    body = answer.get_json()
    assert body["Description"].startswith(f"You need {needed} here, and your account has none")
    assert body["Data"]["Texts"]["en"] == body["Description"]
    assert len(set(body["Data"]["Texts"].values())) == len(LANGUAGES)
    assert runs(ada.tenant)[-1]["reason"] == "no factor"


def test_other_factor_than_the_accepted_is_refused(new_tenant_server: NewTenantServer) -> None:
    who = second_factor_holder(new_tenant_server, second_factors={"totp": True, "email": True, "backup_codes": True})
    who.enrols()
    codes = who.backup_codes()
    put_in_force(who.tenant, asking_for_factor(ANYONE, "totp"))
    token = who.challenged()["SecondFactorAuthenticationToken"]
    assert refused(who.answer_challenge("backupcode", {"backupcode": codes[0]}, token))[0] == 403
    answered(who.shows_code(who.next_code(), token))


def test_factor_cannot_be_enrolled_in_place_of_another(new_tenant_server: NewTenantServer) -> None:
    who = second_factor_holder(new_tenant_server, second_factors={"totp": True, "security_questions": True})
    who.enrols()
    put_in_force(who.tenant, asking_for_factor(ANYONE, "security_questions"))
    assert refused(who.signs_in()) == (403, 8198)


def test_begun_sign_in_goes_on_with_its_version(ada: PasskeyHolder) -> None:
    made = put_in_force(ada.tenant, asking_for_factor(ANYONE))
    token = ada.logs_in().get_json()["Data"]["SecondFactorAuthenticationToken"]
    changed(ada.tenant, made, denying(ANYONE))
    answered(ada.answer_challenge("email", {"otp": code_in(ada.mailed())}, token))
    assert runs(ada.tenant)[-1]["version"] == 1
    assert refused(ada.logs_in()) == (403, 8198)


def test_deleted_workflow_ends_a_begun_sign_in(ada: PasskeyHolder) -> None:
    made = put_in_force(ada.tenant, asking_for_factor(ANYONE))
    token = ada.logs_in().get_json()["Data"]["SecondFactorAuthenticationToken"]
    ada.tenant.change_settings(default_workflow=None)
    deleted(ada.tenant, made)
    assert refused(ada.answer_challenge("email", {"otp": code_in(ada.mailed())}, token)) == (403, 8199)


def test_missing_workflow_refuses_every_sign_in(ada: PasskeyHolder) -> None:
    ada.tenant.change_settings(default_workflow="Nowhere")
    assert refused(ada.logs_in()) == (403, 8199)


def test_program_learns_what_the_account_must_do(ada: PasskeyHolder) -> None:
    put_in_force(ada.tenant, sequence(node("form", "ProfileForm", fields=["company", "first_name"])))
    answer = ada.logs_in()
    assert refused(answer) == (403, 8200)
    assert answer.get_json()["Data"] == {"Action": "profile", "Fields": ["company", "first_name"]}
    ada.tenant.update(ada.uid, {"Company": "Engines", "FirstName": "Ada"})
    answered(ada.logs_in())


def test_new_country_and_browser_lead_to_their_outputs(ada: PasskeyHolder) -> None:
    ada.tenant.change_settings(risk={"browser": "notify"})
    nodes = [
        node("start", "Start"), node("login", "Login"), node("risk", "Risk", medium=["browser"], high=["country"]),
        node("deny", "Deny", text=DENIAL), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    paths = ("start -> login", "login -> risk", "risk.low -> end", "risk.medium -> deny", "risk.high -> deny")
    put_in_force(ada.tenant, drawing(nodes, *paths))
    sign_in(ada)
    assert refused(attempt_sign_in(ada, CHROME)) == (403, 8198)
    assert runs(ada.tenant)[-1]["path"][-2:] == ["risk:medium", "deny"]
