"""Every sensitive operation, by each kind of caller, after a recent and after an old authentication (decisions 0141 and 0371)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from werkzeug.test import TestResponse

from app.contract import errors
from app.contract.auth import AuthScheme, Host
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.visitor_claims import SESSION_HEADER
from app.kit.operations.operation import AnyOperation
from tests.support.oauth.relying_party import Browser, Person, moved
from tests.support.oauth.world import NewWorld, World
from tests.support.operations.asking import Caller
from tests.support.tenants.tenant_server import refused

load_catalogue()
OF_VISITS = [item for item in CATALOGUE if item.admission.visitor and item.admission.visitor.may_need_reauthentication]
OF_TOKENS = [item for item in CATALOGUE if item.admission.access and item.admission.access.may_need_reauthentication]
DECIDED_BY_HANDLER = {"hub.create_backup_codes", "hub.set_pin_at_sign_in"}
"""They need a recent authentication in some states alone: tests/pages/security has them."""
OLD_PASSWORD = {"hub.change_password"}
"""It takes the old password at any age of the session."""
NOT_SIGNED_IN, PASSWORD_REQUIRED = (401, 1409), (401, 967)


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(
        email_login=True, username_login=True, phone_login=True, lockout={"type": "none"}, two_factor="optional",
        pin={"is_on": True}, account_linking=True,
    )  # fmt: skip


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


def by_visit(browser: Browser, operation: AnyOperation) -> TestResponse:
    return browser.send(operation.method, Caller.path_of(operation), Caller.body_of(operation))


def by_token(tenant: World, token: str, operation: AnyOperation) -> TestResponse:
    """Call an operation with what it requires and, in its body, the members that make the request sensitive."""
    assert operation.admission.access is not None
    body = {
        **dict.fromkeys(operation.admission.access.sensitive_members, "x"),
        **json.loads(Caller.body_of(operation) or b"{}"),
    }
    return tenant.wsgi.open(
        Caller.path_of(operation).replace("{site}", tenant.name),
        method=operation.method,
        base_url=f"http://{tenant.services.settings.api_hostname}",
        query_string={"apikey": tenant.api_key, **dict.fromkeys(operation.when, "1")},
        headers={"Authorization": f"Bearer {token}"},
        json=body if operation.method != "GET" else None,
    )


def test_sensitive_operations_of_visits_are_known() -> None:
    assert sorted(item.name for item in OF_VISITS) == [
        "hub.add_email", "hub.add_factor", "hub.add_organization_domain", "hub.add_passkey", "hub.approve_join_request",
        "hub.begin_factor", "hub.change_organization", "hub.connect_identity", "hub.create_organization_link",
        "hub.delete_organization", "hub.disconnect_identity", "hub.edit_answers", "hub.export_data", "hub.invite_people",
        "hub.leave_organization", "hub.make_primary", "hub.passkeys.remove", "hub.phones.remove", "hub.reauthenticate",
        "hub.remove_factor", "hub.remove_member", "hub.remove_organization_domain", "hub.request_phone_change",
        "hub.self_service.ask_deletion", "hub.self_service.remove_email", "hub.self_service.set_username",
        "hub.set_first_password", "hub.set_member_roles", "hub.set_own_pin", "hub.transfer_ownership",
        "hub.turn_off_second_factors",
    ]  # fmt: skip


def test_every_operation_with_the_error_demands_it() -> None:
    declares = {
        item.name for item in CATALOGUE if item.host is Host.INSIDE and errors.WrongCurrentPassword in item.every_error
    }
    assert declares == {item.name for item in OF_VISITS} | DECIDED_BY_HANDLER | OLD_PASSWORD
    assert all(item.heavy_work is not None for item in OF_VISITS)


def test_old_session_needs_the_password(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    browser = tenant.browser().signed_in(ada)
    with moved(tenant.services, seconds=301):
        for item in OF_VISITS:
            with subtests.test(operation=item.name):
                for password in (None, "", "wrong horse 7"):
                    answer = by_visit(replace(browser, typed=password), item)
                    assert refused(answer) == PASSWORD_REQUIRED
                    assert SESSION_HEADER not in answer.headers
        assert refused(by_visit(browser, CATALOGUE["hub.reauthenticate"])) == PASSWORD_REQUIRED, "the session is as old"


def test_password_opens_every_operation(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    with moved(tenant.services, seconds=-301):
        browsers = {item.name: tenant.browser().signed_in(ada) for item in OF_VISITS}
    for item in OF_VISITS:
        with subtests.test(operation=item.name):
            answer = by_visit(replace(browsers[item.name], typed=ada.password), item)
            is_taken = item.name != "hub.set_first_password"  # the account has one
            assert (refused(answer) not in (PASSWORD_REQUIRED, NOT_SIGNED_IN)) is is_taken
            assert (SESSION_HEADER in answer.headers) is (answer.status_code == 200)


def test_password_is_not_sufficient_without_one(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    browser = tenant.browser().signed_in(ada)
    ada.set_columns(password_hash=None)
    with moved(tenant.services, seconds=301):
        for item in OF_VISITS:
            with subtests.test(operation=item.name):
                assert refused(by_visit(replace(browser, typed=ada.password), item)) == NOT_SIGNED_IN


def test_password_opens_nothing_without_session(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    for item in OF_VISITS:
        with subtests.test(operation=item.name):
            assert refused(by_visit(replace(tenant.browser(), typed=ada.password), item)) == NOT_SIGNED_IN


def test_recent_session_needs_no_password(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    browsers = {item.name: tenant.browser().signed_in(ada) for item in OF_VISITS}
    ada.set_columns(password_hash=None)
    with moved(tenant.services, seconds=299):
        for item in OF_VISITS:
            with subtests.test(operation=item.name):
                answer = by_visit(browsers[item.name], item)
                assert refused(answer) not in (PASSWORD_REQUIRED, NOT_SIGNED_IN)
                assert SESSION_HEADER not in answer.headers


def test_old_token_of_an_application_is_refused(tenant: World, ada: Person, subtests: pytest.Subtests) -> None:
    shop = tenant.application("Shop", interface_access="full", access_token_seconds=3600)
    token = str((shop.redeem(tenant.browser().code(shop, ada, scope="openid")).json or {})["access_token"])
    with moved(tenant.services, seconds=601):
        for item in OF_TOKENS:
            with subtests.test(operation=item.name):
                assert AuthScheme.ACCESS_TOKEN in item.admission.auth.schemes()
                required = item.error_profile.reauthentication_required
                assert required is not None
                assert refused(by_token(tenant, token, item)) == (required.status, required.code)
