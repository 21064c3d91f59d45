"""Features of some resources: fixed fields, older addresses, secrets shown once, sets, parents, pages."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from app.identity.administration.resource_operations.resource_registry import store_of
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import ENCRYPTED_COLUMNS, items_of
from app.identity.platform.resource_storage.resource_store import resources as table
from app.identity.platform.store import removal
from app.identity.platform.store.encrypted_columns import reencrypt
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.resources.resource import CREATE, DELETE, LIST, MASKED, READ, REPLACE, UPDATE
from tests.support.operations.resources import Manager, manager, named
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused


def test_fixed_fields_do_not_change(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    made = answered(manage.create())
    answer = manage(UPDATE, {"TargetUrl": "https://evil.example/", "DisplayName": "x"}, of=made)
    assert (answer.status_code, "TargetUrl" in answer.text) == (400, True)
    changed = answered(manage(UPDATE, {**made, "DisplayName": "x"}, of=made))
    assert (changed["TargetUrl"], changed["Event"]) == (made["TargetUrl"], made["Event"])


def test_field_error_is_that_of_its_declaration(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    body = {**manage.sample.item(1), "TargetUrl": "http://a.example/"}
    assert refused(manage(CREATE, body))[0] == 400


def test_generated_secret_is_shown_once_and_rotated(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_clients"))
    made = answered(manage.create())
    assert [made["ClientSecret"]] == manage.secrets()
    assert answered(manage(READ, of=made))["ClientSecret"] == MASKED
    answer = manage.tenant.send("PUT", "/v2/manage/sample-clients/credentials/app1", bearer=manage.token, apikey=None)
    renewed = answered(answer)["ClientSecret"]
    assert [renewed] == manage.secrets() != [made["ClientSecret"]]
    assert answered(manage(READ, of=made))["ClientSecret"] == MASKED
    assert manage.events() == ["added", "rotate"]


def test_partial_update_keeps_other_members(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_clients"))
    made = answered(manage.create())
    changed = answered(manage(UPDATE, {"ClientId": None, "IsActive": False}, of=made))
    assert (changed["Grants"], changed["ClientId"], changed["IsActive"]) == (["code"], None, False)


@pytest.mark.parametrize("name", ["credentials", "CREDENTIALS"])
def test_fixed_path_segment_is_refused_as_an_id(new_tenant_server: NewTenantServer, name: str) -> None:
    manage = manager(new_tenant_server, named("sample_clients"))
    assert refused(manage(CREATE, {"AppName": name})) == (400, 7900)


def test_set_is_replaced_as_a_whole(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_form"))
    element, two, three = (manage.sample.item(number) for number in (1, 2, 3))
    assert answered(manage(REPLACE, {"Data": [element, two]}))["Data"] == manage.listed()
    answered(manage(REPLACE, {"Data": [{**two, "Type": "option"}, three]}))
    assert {(item["Name"], item["Type"]) for item in manage.listed()} == {("f2", "option"), ("f3", "string")}
    assert refused(manage(REPLACE, {"Data": [element, element]})) == (409, 9601)
    assert len(manage.listed()) == 2
    assert answered(manage(REPLACE, {"Data": []}))["Data"] == []


def test_singleton_is_unset_until_it_is_written(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("domain_access"))
    forget(manage.tenant, "email_access")
    assert refused(manage(READ)) == (404, 9604)
    stated = manage.sample.item(1)
    assert answered(manage(UPDATE, stated)) == stated
    assert answered(manage(READ)) == stated


def test_lists_have_pages(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_objects"))
    made = [answered(manage.create(number)) for number in range(5)]
    path = manage.operation(LIST).path

    def page(**query: Any) -> Any:
        return answered(manage.tenant.send("GET", path, bearer=manage.token, apikey=None, **query))["Data"]

    assert page() == made
    assert page(pagesize=2, page=2) == made[2:4]
    assert page(pagesize=2, page=4) == []
    bad = manage.tenant.send("GET", path, bearer=manage.token, apikey=None, pagesize=0)
    assert refused(bad) == (400, 7900)


def test_secrets_are_reencrypted_once(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    answered(manage.create())
    services = manage.tenant.services
    fresh = type(services.encryption)((b"another secret of the tests, long enough", *services.settings.secrets))
    work = UnitOfWork(services.database, manage.tenant.tenant_id)
    assert reencrypt(work, fresh, ENCRYPTED_COLUMNS) == 1
    assert reencrypt(work, fresh, ENCRYPTED_COLUMNS) == 0
    access = StoreAccess(work, fresh, services.clock.now())
    (item,) = store_of(manage.resource).items(access, manage.resource)
    work.rollback()
    assert list(item.secrets.values()) == ["secret-of-the-hook"]


def test_removed_tenant_loses_its_items(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    answered(manage.create())
    work = UnitOfWork(manage.tenant.services.database, manage.tenant.tenant_id)
    removal.delete_tenant_rows(work)
    row = work.one(select(func.count()).select_from(table).where(table.c.tenant_id == manage.tenant.tenant_id))
    work.commit()
    assert row is not None
    assert row[0] == 0


def forget(tenant: TenantServer, key: str) -> None:
    """Remove a key from the tenant's settings."""
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    stored = tenant_writes.lock(work)
    assert stored is not None
    tenant_writes.change(work, settings={name: value for name, value in stored.settings.items() if name != key})
    work.commit()


def test_action_answers_or_changes_the_item(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    made, path = answered(manage.create()), "/v2/manage/sample-hooks"

    def act(method: str, name: str, item_id: str) -> Any:
        return manage.tenant.send(method, f"{path}/{item_id}/{name}", bearer=manage.token, apikey=None)

    assert answered(act("POST", "test", made["HookId"])) == {"IsPosted": True, "Target": "https://t1.example/"}
    assert answered(act("PUT", "status", made["HookId"]))["Name"] == "suspended"
    assert answered(manage(READ, of=made))["Name"] == "suspended"
    assert refused(act("PUT", "status", "nothing")) == (404, 9602)
    assert manage.events() == ["added", "suspend"]


def test_hook_refuses_or_continues(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    body = manage.sample.item(1)
    assert refused(manage(CREATE, {**body, "Event": "Nothing"})) == (400, 7900)
    answer = manage(CREATE, {**body, "Headers": {"bad header": "x"}})
    assert refused(answer) == (400, 7900)
    assert "Headers: expected names without spaces." in answer.text
    assert manage.listed() == []


def test_last_question_stays_while_the_lockout_needs_it(new_tenant_server: NewTenantServer) -> None:
    """Otherwise an export could not be applied."""
    manage = Manager(
        new_tenant_server(lockout={"type": "security_question"}, security_questions={"pet": "Which pet?"}),
        named("security_questions"),
    )
    assert refused(manage(DELETE, of={"QuestionId": "pet"})) == (400, 7900)
    made = answered(manage.create())
    assert answered(manage(DELETE, of={"QuestionId": "pet"})) == {"IsDeleted": True}
    assert manage.listed() == [made]


def test_items_are_read_once_per_version(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    services, name = manage.tenant.services, manage.tenant.name

    def read() -> tuple[list[str], int]:
        with call_of(services, name) as context:
            stored = items_of(context, manage.resource)
            return [item.content["target_url"] for item in stored.values()], context.work.cost.statements

    assert read() == ([], 1)
    answered(manage.create(1))
    assert [read() for _ in range(2)] == [(["https://t1.example/"], 1), (["https://t1.example/"], 0)]
    with call_of(services, name) as context:
        tenant_writes.change(context.work)
        store_of(manage.resource).add(StoreAccess.of(context), manage.resource, Item(("x",), {}))
    services.directory.clear_cache()
    assert read()[0] == ["https://t1.example/"]


def test_body_cannot_name_another_item_than_the_path(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("sample_hooks"))
    item, two = answered(manage.create(1)), answered(manage.create(2))
    for spelt in ("in_path_hookid", "inpathhookid", "HookId", "hookId", "hookid", "Id"):
        answer = manage(UPDATE, {"DisplayName": "changed", spelt: two["HookId"]}, of=item)
        assert answer.status_code == 400, spelt
        assert answer.get_json()["Description"].lower().startswith(spelt.lower()), answer.text
    changed = answered(manage(UPDATE, {"DisplayName": "changed", "HookId": item["HookId"]}, of=item))
    assert (changed["HookId"], changed["Name"]) == (item["HookId"], "changed")
    assert answered(manage(READ, of=two)) == two


def test_concurrent_changes_of_several_resources_all_persist(new_tenant_server: NewTenantServer) -> None:
    """They share the tenant's settings."""
    tenant = new_tenant_server()
    kinds = ("push", "duo", "security_questions", "sample_objects", "domain_access")
    managers = [Manager(tenant, named(kind)) for kind in kinds]

    def write(manage: Manager) -> int:
        verb = CREATE if manage.does(CREATE) else UPDATE
        return manage(verb, manage.sample.item(3)).status_code

    with ThreadPoolExecutor(len(kinds)) as threads:
        assert list(threads.map(write, managers)) == [200] * len(kinds)
    with managers[0].work() as work:
        stored = tenant_writes.own(work)
    assert stored is not None
    assert stored.settings["push"]["message"] == "Is it you? 3"
    assert stored.settings["duo"]["client_id"] == "DI3"
    assert [*stored.settings["security_questions"].values()] == ["What is pet 3 called?"]
    assert [setting["name"] for setting in stored.settings["custom_objects"]] == ["o3"]
    assert stored.settings["email_access"]["allow"] == ["a3.example"]
