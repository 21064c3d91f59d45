"""The workflow in force decides about the sign-ins of programs."""

from __future__ import annotations

import pytest

from tests.support.credentials.passkeys import PasskeyHolder, passkey_holder
from tests.support.operation_cases.cases import events
from tests.support.operation_cases.sign_in_methods import EVERY, METHODS
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.workflows.drawings import sequence
from tests.support.workflows.running import (
    DENIAL,
    asking_for_factor,
    changed,
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


def test_factor_of_a_workflow_is_asked_for_without_enrolment(ada: PasskeyHolder) -> None:
    put_in_force(ada.tenant, asking_for_factor(ANYONE, "email"))
    answer = ada.logs_in()
    assert refused(answer) == (403, 1166)
