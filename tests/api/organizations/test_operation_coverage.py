"""The operations of organizations are covered: every error that one declares is raised by a test."""

from __future__ import annotations

from collections import Counter

from app.contract.catalogue import CATALOGUE, load_catalogue
from tests.api.organizations import test_connection_operations as connection_operations
from tests.api.organizations import test_operations as organization_operations
from tests.api.organizations import test_role_operations as organization_role_operations
from tests.api.organizations import test_setup_links as setup_links
from tests.api.organizations.domains import test_operations as domain_operations
from tests.api.organizations.invitations import test_link_operations as invitation_link_operations
from tests.api.organizations.invitations import test_operations as invitation_operations
from tests.api.organizations.members import test_operations as member_operations
from tests.support.organizations.management import RefusedCall

FILES = (
    invitation_link_operations,
    invitation_operations,
    organization_operations,
    connection_operations,
    domain_operations,
    member_operations,
    organization_role_operations,
    setup_links,
)
PARTS = (
    "s",
    "_permissions",
    "_roles",
    "_members",
    "_domains",
    "_connections",
    "_invitations",
    "_invitation_links",
    "_setup_links",
)
AREAS = tuple(f"organization{name}" for name in PARTS)
REFUSALS: list[RefusedCall] = [refusal for file in FILES for refusal in file.REFUSALS]
RAISED = {(refusal.operation, refusal.code) for refusal in REFUSALS}
OTHER_TESTS = {("organization_domains.verify", 8157): "test_first_verified_owner_keeps_the_domain"}
load_catalogue()


def test_every_declared_error_is_raised() -> None:
    declared = {
        (operation.name, kind.code) for operation in CATALOGUE if operation.area in AREAS for kind in operation.errors
    }
    assert declared - RAISED - set(OTHER_TESTS) == set()
    assert not set(OTHER_TESTS) & RAISED


def test_no_refusal_is_listed_twice() -> None:
    assert [
        pair for pair, count in Counter((refusal.operation, refusal.code) for refusal in REFUSALS).items() if count > 1
    ] == []
