"""Every declared resource behaves as declared; so do sample resources, which use every feature of a declaration."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from sqlalchemy import select

from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.resource_storage.resource_store import resources as table
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.operations.errors import ApiError
from app.kit.resources.operations import is_list
from app.kit.resources.resource import (
    CREATE,
    DELETE,
    LIST,
    MASKED,
    ONCE,
    READ,
    REPLACE,
    UPDATE,
    InSettings,
    NotListed,
    Resource,
)
from tests.support.oauth.relying_party import moved
from tests.support.operations.resource_samples import SAMPLES
from tests.support.operations.resources import EVERY, Manager, at_most, manager
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

COLLECTIONS = [item for item in EVERY if not item.is_singleton and CREATE in [options.verb for options in item.verbs]]
WITH_DUPLICATES = [
    collection
    for collection in COLLECTIONS
    if collection.unique or not any(key.key and key.key.is_minted for key in collection.keys)
]


def of(resources: list[Resource]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("resource", resources, ids=lambda item: item.kind)


def error_of(kind: type[ApiError] | None) -> tuple[int, Any]:
    assert kind is not None
    return kind.status, kind.code


def unknown_to(resource: Resource, verb: Any) -> tuple[int, Any]:
    options = next(item for item in resource.verbs if item.verb is verb)
    return error_of(options.unknown or resource.unknown)


def version(tenant: TenantServer) -> int:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    existing = tenant_writes.own(work)
    work.rollback()
    assert existing is not None
    return existing.version


def test_every_resource_has_a_sample() -> None:
    assert {item.kind for item in EVERY} == set(SAMPLES)


@pytest.mark.both_databases
@of(COLLECTIONS)
def test_item_is_created_read_updated_and_deleted(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    before = version(manage.tenant)
    made = answered(manage.create())
    assert version(manage.tenant) == before + 1
    assert manage.listed() == [in_list(resource, {**made, **once(resource, made)})]
    if manage.does(READ):
        shown = answered(manage(READ, of=made))
        items = shown["Data"] if is_list(resource, READ) else [in_list(resource, shown)]
        assert items == manage.listed()
    if manage.does(UPDATE):
        changed = answered(manage(UPDATE, manage.sample.change(1), of=made))
        for name, value in manage.sample.change(1).items():
            assert value in changed.values(), name
        (left,) = manage.listed()
        assert {**left, "LastModifiedDate": 0} == {**in_list(resource, changed), "LastModifiedDate": 0}
    assert answered(manage(DELETE, of=made)) == {"IsDeleted": True}
    assert manage.listed() == []
    events = ["added", "changed", "removed"] if manage.does(UPDATE) else ["added", "removed"]
    assert version(manage.tenant) == before + len(events)
    assert manage.events() == events


def in_list(resource: Resource, shown: dict[str, Any]) -> dict[str, Any]:
    """Return an item without the members that lists leave out."""
    left_out = {member.request_name for member in resource.members if member.mark(NotListed)}
    return {name: value for name, value in shown.items() if name not in left_out}


def once(resource: Resource, made: dict[str, Any]) -> dict[str, Any]:
    """Return the members that only the first response shows."""
    shown_once = {member.request_name for member in resource.members if ONCE in member.roles}
    return {name: MASKED for name in made if name in shown_once}


@pytest.mark.both_databases("first")
@of(COLLECTIONS)
def test_create_repeated_with_its_key_creates_once(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    made = answered(manage.create(key="a key"))
    assert answered(manage.create(key="a key")) == made, "a secret that is shown once included"
    assert manage.events() == ["added"]
    assert len(manage.listed()) == 1
    assert refused(manage.create(2, key="a key"))[0] == 400
    answered(manage.create(2, key="another key"))
    assert len(manage.listed()) == 2


@of([collection for collection in COLLECTIONS if collection.kind == "themes"])
def test_key_is_of_its_caller_operation_and_day(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    answered(manage.create(key="a key"))
    other = Manager(manage.tenant, resource)
    assert refused(other.create(key="a key")) == error_of(resource.exists), "another program's request is its own"
    assert refused(Manager(new_tenant_server(), resource).create(2, key="a" * 256))[0] == 400
    with moved(manage.tenant.services, hours=25):
        later = Manager(manage.tenant, resource)
        answered(later.create(2, key="a key"))


@pytest.mark.both_databases("first")
@of(WITH_DUPLICATES)
def test_duplicate_is_refused(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    answered(manage.create())
    assert refused(manage.create()) == error_of(resource.exists)
    answered(manage.create(2))
    assert len(manage.listed()) == 2


@of(COLLECTIONS)
def test_unknown_item_is_refused(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    made = answered(manage.create())
    answered(manage(DELETE, of=made))
    for verb in (READ, UPDATE, DELETE):
        if manage.does(verb) and not (verb is READ and is_list(resource, READ)):
            assert refused(manage(verb, manage.sample.change(1), of=made)) == unknown_to(resource, verb), verb


@of([item for item in EVERY if any(member.is_secret for member in item.members)])
def test_secrets_are_masked_retained_and_encrypted(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    made = manage.stored()
    before = manage.secrets()
    assert before
    shown = answered(manage(READ, of=made)) if manage.does(READ) else manage.listed()[0]
    assert MASKED in str(shown)
    assert not any(secret in str(shown) for secret in before)
    if manage.does(UPDATE):
        answered(manage(UPDATE, shown, of=made))
    elif manage.does(REPLACE):
        answered(manage(REPLACE, {"Data": [shown]}))
    assert manage.secrets() == before
    assert not any(secret in stored(manage) for secret in before)


def stored(manage: Manager) -> str:
    work = UnitOfWork(manage.tenant.services.database, manage.tenant.tenant_id)
    rows = work.all(select(table).where(table.c.tenant_id == manage.tenant.tenant_id))
    existing = tenant_writes.own(work)
    work.rollback()
    return f"{[tuple(row) for row in rows]} {existing}"


@of(EVERY)
def test_each_verb_needs_its_scope(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    tenant = new_tenant_server(**(SAMPLES[resource.kind].settings or {}))
    verbs = ("read", "create", "update", "delete")
    with_scopes = cache(lambda *scopes: Manager(tenant, resource, *scopes))
    other = "profile" if resource.scope != "profile" else "role"
    of_other = with_scopes(*(f"{other}:{verb}" for verb in verbs))
    for options in resource.verbs:
        needed = f"{resource.scope}:{options.verb.scope}"
        rest = sorted({f"{resource.scope}:{verb}" for verb in verbs} - {needed})
        of_item = dict.fromkeys(SAMPLES[resource.kind].key.values(), "x")
        body = None if options.verb in (LIST, READ) else SAMPLES[resource.kind].item(1)
        for program in (of_other, with_scopes(*rest)):
            answer = program(options.verb, body, of=of_item)
            assert refused(answer) == (403, 6002), options.verb
            assert needed in answer.get_json()["Description"]
        admitted = with_scopes(needed)(options.verb, body, of=of_item).get_json()
        assert needed not in admitted.get("Description", ""), "it may lack a power of the item (decision 0315)"


@pytest.mark.both_databases
@of(WITH_DUPLICATES)
def test_one_of_many_concurrent_creations_succeeds(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    assert resource.exists is not None
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda _: manage.create().status_code, range(6)))
    assert sorted(answers) == [200] + [resource.exists.status] * 5
    assert len(manage.listed()) == 1


@pytest.mark.both_databases
@of(COLLECTIONS)
def test_concurrent_creations_stay_within_the_limit(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    full = resource.error_profile.bad_parameter
    with at_most(resource, 3 + manage.sample.is_program), ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(lambda number: manage.create(number).status_code, range(6)))
        assert sorted(answers) == sorted([200] * 3 + [full.status] * 3)
        assert refused(manage.create(9)) == error_of(full)
    assert len(manage.listed()) == 3


@of(EVERY)
def test_empty_or_malformed_body_is_refused(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    before = manage.listed() if manage.does(LIST) else []
    body, name = manage.sample.malformed
    verb = next(item for item in (CREATE, REPLACE, UPDATE) if manage.does(item))
    assert manage(verb, {}).status_code == 400
    answer = manage(verb, body)
    assert answer.status_code == 400, answer.text
    assert name in answer.text
    assert manage.listed() == before if manage.does(LIST) else True


@pytest.mark.both_databases
@of(EVERY)
def test_another_tenant_sees_and_changes_nothing(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage, other = manager(new_tenant_server, resource), manager(new_tenant_server, resource)
    made = manage.stored()
    shown = [answered(manage(element, of=made)) for element in (LIST, READ) if manage.does(element)]
    assert manage.sample.item(1) not in other.listed() if manage.does(LIST) else True
    for item in (UPDATE, DELETE):
        if other.does(item) and not (resource.is_singleton or manage.sample.fixed):
            assert refused(other(item, manage.sample.change(1), of=made)) == unknown_to(resource, item)
    assert shown == [answered(manage(element, of=made)) for element in (LIST, READ) if manage.does(element)]


# Configuration files and operations manage the same items.


@of([item for item in EVERY if item.file_key or isinstance(item.backing, InSettings)])
def test_export_contains_what_operations_created(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    filed = manager(new_tenant_server, resource)
    made = filed.stored()
    before = [answered(filed(item, of=made)) for item in (LIST, READ) if filed.does(item)]
    filed.apply(filed.export())
    exported = filed.export()
    assert filed.apply(exported).is_empty
    assert [answered(filed(item, of=made)) for item in (LIST, READ) if filed.does(item)] == before
    assert not any(secret in exported for secret in filed.secrets())


FILE = """
tenants:
  - name: {name}
    sample_hooks:
      - {{event: Login, target_url: "https://a.example/", name: {shown}, password: secret-of-the-file}}
"""


@pytest.fixture
def filed(new_tenant_server: NewTenantServer) -> Manager:
    return Manager(new_tenant_server(), next(item for item in EVERY if item.kind == "sample_hooks"))


def test_file_and_operations_keep_each_others_members(filed: Manager) -> None:
    text = FILE.format(name=filed.tenant.name, shown="one")
    assert "sample_hook " in str(filed.plan(text))
    assert filed.listed() == []  # a plan writes nothing
    filed.apply(text)
    assert filed.apply(text).is_empty
    (made,) = filed.listed()
    assert (made["Name"], made["Authentication"]["BasicAuth"]["Password"]) == ("one", MASKED)
    assert filed.secrets() == ["secret-of-the-file"]
    answered(filed(UPDATE, {"DisplayName": "by hand", "Headers": {"x": "1"}}, of=made))
    planned = str(filed.plan(text))
    assert "name: by hand -> one (set through the API)" in planned
    assert "headers: {'x': '1'} kept, set through the API" in planned
    filed.apply(text)
    (left,) = filed.listed()
    assert (left["HookId"], left["Name"], left["Headers"]) == (made["HookId"], "one", {"x": "1"})
    assert origin_of(filed)["by"] == "file"


def origin_of(filed: Manager) -> dict[str, Any]:
    work = UnitOfWork(filed.tenant.services.database, filed.tenant.tenant_id)
    row = work.one(select(table.c.origin).where(table.c.tenant_id == filed.tenant.tenant_id))
    work.rollback()
    assert row is not None
    return dict(row.origin)


def test_only_prune_removes_unlisted_items(filed: Manager) -> None:
    answered(filed.create(7))
    text = FILE.format(name=filed.tenant.name, shown="one")
    done = filed.apply(text)
    assert "remove it with --prune (created through the API)" in str(done)
    assert len(filed.listed()) == 2
    empty = f"tenants: [{{name: {filed.tenant.name}, sample_hooks: []}}]"
    assert "(created by an earlier file)" in str(filed.plan(empty))
    assert filed.apply(empty).is_empty
    filed.apply(empty, prune=True)
    assert filed.listed() == []


def test_secret_of_a_file_is_never_repeated(filed: Manager) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        filed.plan(
            FILE.format(name=filed.tenant.name, shown="one").replace("secret-of-the-file", "[secret-of-the-file]")
        )
    assert "secret-of-the-file" not in str(refusal.value)
