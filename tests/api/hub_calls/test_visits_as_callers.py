"""Operations of programs that pages call, with the visit as caller: who gets in, and who does not (decision 0371)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.contract.auth import ACCESS_TOKEN, API_KEY, API_SECRET, CREDENTIALS, HUB, AuthScheme, Host
from app.contract.catalogue import CATALOGUE, for_visits, load_catalogue, operation
from app.contract.profile import PROVIDER_TOKENS
from app.contract.sessions.models import Session
from app.contract.shared_parameters import AccessTokenQuery
from app.contract.shared_responses import Deleted
from app.contract.visitor_claims import SESSION_HEADER, VISIT_HEADER, VisitorClaims
from app.identity.directory.accounts import account_store, accounts
from app.identity.platform.audit import audit
from app.identity.platform.context import Context, Visitor
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.operations.auth import Auth
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.kit.operations.operation import AnyOperation, Catalogue
from app.kit.operations.server import OperationServer
from tests.support.oauth.relying_party import Browser, Person
from tests.support.oauth.world import NewWorld, World
from tests.support.operations.asking import Caller
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import refused

load_catalogue()
MARKED = [item for item in CATALOGUE if f"hub.{item.name}" in {other.name for other in CATALOGUE}]
SENSITIVE = [item for item in MARKED if item.admission.access is CREDENTIALS]
NOT_SIGNED_IN, ASKS_PASSWORD, NOT_OF_HUB, OTHER_ACCOUNT = (401, 1409), (401, 967), (403, 909), (409, 8195)
USERNAME = CATALOGUE["self_service.set_username"]


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(email_login=True, username_login=True, phone_login=True)


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


@pytest.fixture
def browser(tenant: World, ada: Person) -> Browser:
    return tenant.browser().signed_in(ada)


def call(browser: Browser, operation: AnyOperation, body: bytes | None = None) -> TestResponse:
    """Call the operation as the hub does for this browser; the body has what the request requires, for nothing that is there."""
    called = for_visits(operation)
    return browser.send(called.method, Caller.path_of(called), Caller.body_of(called) if body is None else body)


def set_username(browser: Browser, name: str) -> TestResponse:
    return call(browser, USERNAME, json.dumps({"Username": name}).encode())


def username_of(tenant: World, who: Person) -> str | None:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        account = account_store.by_uid(Context.outside_requests(tenant.services, _settings_of(tenant), work), who.uid)
    return account.username if account is not None else None


def _settings_of(tenant: World) -> Any:
    return tenant.services.directory.by_host(tenant.browser().host)


# What may be marked.


def test_pages_call_listed_operations_alone() -> None:
    assert sorted(item.name for item in MARKED) == [
        "consents.change", "passkeys.remove", "phones.remove", "self_service.ask_deletion", "self_service.remove_email",
        "self_service.remove_picture", "self_service.set_picture", "self_service.set_username",
    ]  # fmt: skip


def test_every_alternative_of_a_marked_operation_needs_a_token() -> None:
    for item in MARKED:
        assert item.admission.auth == API_KEY & ACCESS_TOKEN
        assert item.host is Host.API


@pytest.mark.parametrize(
    "auth", [API_KEY, API_KEY & API_SECRET, API_KEY & ACCESS_TOKEN | API_KEY, HUB, Auth()], ids=str
)
def test_operation_without_an_access_token_takes_no_visits(auth: Auth) -> None:
    with pytest.raises(ValueError, match="takes no visits"):
        operation(
            "books.buy", "POST /books", AccessTokenQuery, Deleted, auth=auth, access=CREDENTIALS, visits=True, summary="Buy a book",
            catalogue=Catalogue(),
        )  # fmt: skip


def test_visit_alone_opens_the_internal_operation(identity_app: OperationServer) -> None:
    identity_app.load()
    for item in MARKED:
        made = for_visits(item)
        assert made.host is Host.INSIDE
        assert made.admission.every_auth.schemes() == {AuthScheme.HUB}
        assert (made.request, made.response, made.handler) == (item.request, item.response, item.handler)
        assert set(item.errors) <= set(made.every_error)


def test_internal_host_has_no_other_operation_of_programs(identity_app: OperationServer) -> None:
    made = {for_visits(element).name for element in MARKED}
    for item in CATALOGUE:
        for method, path in item.addresses() if item.host is not Host.INSIDE else ():
            assert identity_app.operations_at(Host.INSIDE, method, path) == []
            assert {other.name for other in identity_app.operations_at(Host.INSIDE, method, f"/hub{path}")} <= made


# Who is no caller.


def at_api_host(tenant: World, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> TestResponse:
    services = tenant.services
    visit = headers.get(VISIT_HEADER, "")
    address = f"{path}?apikey={tenant.api_key}"
    at = int(services.clock.now().timestamp())
    signed = {SIGNATURE_HEADER: signature(services.hub_keys, method, address, body, visit, at, randomness.token(16))}
    sent = {**headers, **(signed if visit else {}), "Content-Type": "application/json"}
    base_url = f"http://{services.settings.api_hostname}"
    return tenant.wsgi.open(address, method=method, base_url=base_url, headers=sent, data=body)


def test_signed_visit_is_no_caller_at_the_api_host(tenant: World, browser: Browser) -> None:
    visit = VisitorClaims(host=browser.host, session=browser.session, address="192.0.2.7").to_header()
    for item in MARKED:
        body, path = Caller.body_of(item), Caller.path_of(item)
        with_key = at_api_host(tenant, item.method, path, {}, body)
        with_visit = at_api_host(tenant, item.method, path, {VISIT_HEADER: visit}, body)
        assert refused(with_key) == refused(with_visit) == NOT_SIGNED_IN, item.name
        assert with_key.json == with_visit.json, item.name


def test_visit_beside_a_token_changes_the_account_of_the_token(tenant: World, browser: Browser, ada: Person) -> None:
    eve = tenant.person("eve@example.com")
    path = "/identity/v2/auth/login"
    signed_in = at_api_host(
        tenant, "POST", path, {}, json.dumps({"Email": eve.email, "Password": eve.password}).encode()
    )
    visit = VisitorClaims(host=browser.host, session=browser.session).to_header()
    headers = {VISIT_HEADER: visit, "Authorization": f"Bearer {signed_in.get_json()['access_token']}"}
    answer = at_api_host(tenant, USERNAME.method, USERNAME.path, headers, b'{"Username": "countess"}')
    assert answer.status_code == 200, answer.text
    assert (username_of(tenant, ada), username_of(tenant, eve)) == (None, "countess")


def test_internal_address_is_none_at_public_hosts(tenant: World, browser: Browser) -> None:
    visit = VisitorClaims(host=browser.host, session=browser.session).to_header()
    for item in map(for_visits, MARKED):
        assert at_api_host(tenant, item.method, Caller.path_of(item), {VISIT_HEADER: visit}).status_code == 404, (
            item.name
        )
        url = f"http://{browser.host}"
        answer = tenant.wsgi.open(Caller.path_of(item), method=item.method, base_url=url)
        assert answer.status_code == 404, item.name


@pytest.mark.parametrize("forged", ["", "a key of another service", "another address"])
def test_wrong_signature_is_refused_with_key_secret_and_token(tenant: World, browser: Browser, forged: str) -> None:
    services, visit = tenant.services, VisitorClaims(host=browser.host, session=browser.session).to_header()
    keys = services.hub_keys if forged == "another address" else (forged.encode() or b"x",)
    at = int(services.clock.now().timestamp())
    for item in map(for_visits, MARKED):
        path, body = Caller.path_of(item), Caller.body_of(item)
        signed_path = "/hub/elsewhere" if forged == "another address" else path
        headers = {
            VISIT_HEADER: visit, "Content-Type": "application/json", "Authorization": f"Bearer {browser.session}",
            "X-Gatehouse-ApiKey": tenant.api_key, "X-Gatehouse-ApiSecret": tenant.api_secret,
            **({SIGNATURE_HEADER: signature(keys, item.method, signed_path, body, visit, at, randomness.token(16))} if forged else {}),
        }  # fmt: skip
        inside = {"gatehouse.inside": True}
        answer = tenant.wsgi.open(path, method=item.method, headers=headers, data=body, environ_overrides=inside)
        assert refused(answer) == NOT_OF_HUB, item.name


# Which visits are callers.


@pytest.mark.both_databases
def test_session_of_another_tenant_is_refused(new_world: NewWorld, browser: Browser) -> None:
    foreign = replace(browser, tenant_name=new_world(phone_login=True).name)
    for item in MARKED:
        assert refused(call(foreign, item)) == NOT_SIGNED_IN, item.name


def test_visit_without_a_live_session_is_refused(tenant: World, browser: Browser) -> None:
    for item in MARKED:
        assert refused(call(tenant.browser(), item)) == NOT_SIGNED_IN, item.name
        assert refused(call(replace(browser, session="a guess"), item)) == NOT_SIGNED_IN, item.name
    tenant.change_settings(session_idle_minutes=5)
    pass_time(tenant.services, minutes=6)
    for item in MARKED:
        assert refused(call(replace(browser, typed="correct horse 7"), item)) == NOT_SIGNED_IN, item.name


def test_ended_session_is_refused(tenant: World, browser: Browser, ada: Person) -> None:
    call_answer = browser.send(
        "POST", "/hub/password/change", json.dumps({"OldPassword": ada.password, "NewPassword": "Quartz-lantern-58"}).encode()
    )  # fmt: skip
    assert call_answer.status_code == 200, call_answer.text
    for item in MARKED:
        assert refused(call(browser, item)) == NOT_SIGNED_IN, item.name


def test_blocked_or_deleted_account_is_refused(browser: Browser, ada: Person) -> None:
    for columns in ({"is_active": False}, {"is_active": True, "is_deleted": True}):
        ada.set_columns(**columns)
        for item in MARKED:
            assert refused(call(browser, item)) == NOT_SIGNED_IN, item.name


def test_unmet_requirement_of_the_tenant_is_refused(tenant: World, browser: Browser) -> None:
    since = (tenant.services.clock.now() - timedelta(minutes=1)).isoformat()
    tenant.change_settings(privacy_policy={"mode": "strict", "versions": [{"version": "1", "starts_at": since}]})
    for item in MARKED:
        assert refused(call(browser, item)) == NOT_SIGNED_IN, item.name


def test_form_of_another_account_is_refused(browser: Browser) -> None:
    for item in MARKED:
        assert refused(call(replace(browser, posted="0" * 32), item)) == OTHER_ACCOUNT, item.name


# A recent authentication.


def test_old_session_needs_the_password_for_a_sensitive_change(tenant: World, browser: Browser) -> None:
    pass_time(tenant.services, minutes=6)
    assert {element.name for element in MARKED} - {element.name for element in SENSITIVE} == {
        "consents.change", "self_service.remove_picture", "self_service.set_picture",
    }  # fmt: skip
    for item in SENSITIVE:
        assert refused(call(browser, item)) == ASKS_PASSWORD, item.name
    assert refused(call(browser, CATALOGUE["consents.change"])) not in (ASKS_PASSWORD, NOT_SIGNED_IN)
    assert refused(set_username(replace(browser, typed="wrong"), "countess")) == ASKS_PASSWORD


@pytest.mark.both_databases
def test_right_password_changes_and_renews_the_session(tenant: World, browser: Browser, ada: Person) -> None:
    pass_time(tenant.services, minutes=6)
    answer = set_username(replace(browser, typed=ada.password), "countess")
    assert answer.status_code == 200, answer.text
    assert username_of(tenant, ada) == "countess"
    renewed = replace(browser, session=Session.model_validate_json(answer.headers[SESSION_HEADER]).token)
    assert refused(set_username(browser, "ada")) == NOT_SIGNED_IN, "the old cookie"
    again = set_username(renewed, "ada")
    assert (again.status_code, again.headers.get(SESSION_HEADER)) == (200, None)


def test_refused_change_leaves_the_session_as_it_was(tenant: World, browser: Browser, ada: Person) -> None:
    pass_time(tenant.services, minutes=6)
    answer = set_username(replace(browser, typed=ada.password), "a b")
    assert refused(answer) == (403, 1204)
    assert SESSION_HEADER not in answer.headers
    assert refused(set_username(browser, "countess")) == ASKS_PASSWORD, "neither renewed nor recent"


def test_control_character_in_the_password_is_refused(tenant: World, browser: Browser) -> None:
    pass_time(tenant.services, minutes=6)
    dangerous = for_visits(USERNAME).error_profile.dangerous
    answer = set_username(replace(browser, typed="x\x00"), "countess")
    assert refused(answer) == (dangerous.status, dangerous.code)


# What the change leaves behind.


def test_change_is_audited_for_the_visitor_alone(tenant: World, browser: Browser, ada: Person) -> None:
    removed = call(browser, CATALOGUE["passkeys.remove"])
    assert refused(removed) == (403, 1325)
    assert set_username(browser, "countess").status_code == 200
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    rows = work.all(select(audit).where(audit.c.tenant_id == tenant.tenant_id, audit.c.uid == ada.uid))
    work.rollback()
    assert {(row.address, row.facts.get("act")) for row in rows} == {("192.0.2.7", None)}


def test_profile_for_a_visit_has_no_tokens_of_a_provider(tenant: World, ada: Person) -> None:
    stored = dict.fromkeys(PROVIDER_TOKENS, "secret")
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        context = Context.outside_requests(tenant.services, _settings_of(tenant), work)
        account = account_store.by_uid(context, ada.uid)
        assert account is not None
        account = replace(account, profile={**account.profile, **stored})
        context.visitor = Visitor(ada.uid)
        assert "secret" not in accounts.profile_for_owner(context, account, None).to_json().decode()
