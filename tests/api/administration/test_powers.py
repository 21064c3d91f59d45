"""Each resource that carries a power, each of its powers, each operation: only programs with the power write the item."""

from __future__ import annotations

from functools import cache

import pytest

from app.contract.resources import RESOURCES
from app.identity.administration.resource_operations.resource_registry import rules_of
from app.kit.resources.operations import BoundOperation
from app.kit.resources.resource import CREATE, DELETE, READ, UPDATE, Resource, Verb
from tests.support.operations.powers import POWERFUL, WITHOUT, Body, Make, Powerful, body_of, write, writes
from tests.support.operations.resource_samples import SAMPLES
from tests.support.operations.resources import Manager
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

LACKS = (403, 6002)
WITH_TWO_SIDES = [case for case in POWERFUL if case.plain]


class Item:
    """The item of a case at a tenant, which a program with every power sets back."""

    def __init__(self, case: Powerful, tenant: TenantServer) -> None:
        self.case, self.tenant, self.resource = case, tenant, case.resource
        self.root = Manager(tenant, self.resource, "all")
        self.token = cache(lambda *scopes: machine(tenant, *scopes))

    def operation(self, verb: Verb) -> BoundOperation | None:
        found = (
            element
            for element in writes(self.resource)
            if element.draft.verb_options and element.draft.verb_options.verb is verb
        )
        return next(found, None)

    def again(self, make: Make, *, is_prepared: bool) -> Body:
        """Let the item be as `make` says, and return how the operation shows it."""
        self.gone()
        verb = CREATE if self.operation(CREATE) else UPDATE
        made = answered(self.root(verb, make(self.tenant), of=SAMPLES[self.case.kind].fixed))
        if is_prepared and self.case.prepare is not None:
            self.case.prepare(self.tenant, made)
        return made

    def gone(self) -> None:
        if self.operation(DELETE) is not None:
            for element in self.root.listed():
                answered(self.root(DELETE, of=element))

    def state(self) -> list[Body]:
        return [self.root(READ).get_json()] if self.resource.is_singleton else self.root.listed()


@pytest.fixture
def item(new_tenant_server: NewTenantServer, request: pytest.FixtureRequest) -> Item:
    case: Powerful = request.param
    return Item(case, new_tenant_server(**(SAMPLES[case.kind].settings or {})))


def of_cases(cases: tuple[Powerful, ...] | list[Powerful]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("item", cases, ids=str, indirect=True)


@pytest.mark.both_databases("first")
@pytest.mark.usefixtures("fake_dns")
@of_cases(POWERFUL)
def test_item_with_a_power_is_written_with_it_alone(item: Item, subtests: pytest.Subtests) -> None:
    case = item.case
    for bound in writes(item.resource):
        is_new = bound.draft.verb_options is not None and bound.draft.verb_options.verb is CREATE
        scope, body = bound.operation.admission.scope, body_of(case, bound, item.tenant)
        if is_new and case.prepare is not None and "linked" not in case.power:
            continue  # no operation makes such an item
        for scopes in dict.fromkeys([(scope,), (scope, *case.needs), ("all",)]):
            with subtests.test(f"{bound.operation.name} with {scopes}"):
                made = item.again(case.item, is_prepared=True)
                if is_new:
                    item.gone()
                before = item.state()
                answer = write(item.tenant, item.token(*scopes), bound, body, made)
                if "all" in scopes or {*case.needs} <= {*scopes}:
                    assert answer.status_code != 403, answer.text
                    continue
                assert refused(answer) == LACKS, answer.text
                assert case.needs[0] in answer.get_json()["Description"]
                assert item.state() == before


@of_cases(WITH_TWO_SIDES)
def test_change_is_judged_by_the_wider_side(item: Item, subtests: pytest.Subtests) -> None:
    assert item.case.plain is not None
    plain, grant, revoke = item.case.plain
    bound = item.operation(UPDATE)
    assert bound is not None
    scope = bound.operation.admission.scope
    for side, make, change in (("before", item.case.item, revoke), ("after", plain, grant(item.tenant))):
        with subtests.test(f"power {side}"):
            made = item.again(make, is_prepared=False)
            before = item.state()
            assert refused(write(item.tenant, item.token(scope), bound, change, made)) == LACKS
            assert item.state() == before
            answered(write(item.tenant, item.token(scope, *item.case.needs), bound, change, made))
    with subtests.test("no power"):
        made = item.again(plain, is_prepared=False)
        answered(write(item.tenant, item.token(scope), bound, revoke, made))


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda element: element.kind)
def test_resource_has_powers_or_a_reason_why_not(resource: Resource) -> None:
    """A new resource needs an entry in one of the two tables."""
    has_powers = rules_of(resource).powers is not None
    assert (resource.kind in {case.kind for case in POWERFUL}) is has_powers
    assert (resource.kind in WITHOUT) is not has_powers


def test_every_entry_is_of_a_resource() -> None:
    assert {*WITHOUT, *(case.kind for case in POWERFUL)} == {
        resource.kind for resource in RESOURCES if writes(resource)
    }
