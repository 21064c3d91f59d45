"""Roles in configuration files, over both databases: planned, applied, exported, pruned, refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read_file
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.platform.services import IdentityServices
from tests.support.tenants.configuration_files import applied, lines, planned, rows

TENANT = "tenants:\n  - name: acme\n"
ROLES = """    roles:
      - {name: editor, permissions: ["pages:write", "pages:read"]}
      - {name: viewer, permissions: ["pages:read"]}
"""
ACCOUNT = """    accounts:
      - {email: ada@example.com, roles: [viewer, editor]}
      - {email: bob@example.com}
"""
FILE = TENANT + ROLES + ACCOUNT


@pytest.fixture
def ours(own_services: IdentityServices) -> IdentityServices:
    return own_services


def assigned(services: IdentityServices) -> list[tuple[str, str]]:
    """Return the email and the role of each assignment."""
    emails = {row.uid: row.email for row in rows(services, "accounts")}
    return sorted((emails[row.uid], row.role) for row in rows(services, "account_roles"))


def permissions(services: IdentityServices) -> dict[str, Any]:
    return {row.name: row.permissions for row in rows(services, "roles")}


def refusal(services: IdentityServices, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        applied(services, text)
    return str(caught.value)


def roles_of(plan: ChangePlan) -> list[tuple[str, str]]:
    return [(name, action) for kind, name, action in lines(plan) if kind == "role"]


def test_apply_creates_roles_and_assigns_them(ours: IdentityServices) -> None:
    assert roles_of(planned(ours, FILE)) == [("editor", "create"), ("viewer", "create")]
    assert lines(applied(ours, FILE)) == [
        ("tenant", "acme", "create"),
        ("role", "editor", "create"),
        ("role", "viewer", "create"),
        ("account", "ada@example.com", "create"),
        ("account", "bob@example.com", "create"),
    ]
    assert permissions(ours) == {"editor": ["pages:read", "pages:write"], "viewer": ["pages:read"]}
    assert assigned(ours) == [("ada@example.com", "editor"), ("ada@example.com", "viewer")]
    assert applied(ours, FILE).is_empty


@pytest.mark.both_databases
def test_file_sets_permissions_and_roles_of_accounts(ours: IdentityServices) -> None:
    applied(ours, FILE)
    changed = FILE.replace('"pages:write", ', '"all", ').replace("[viewer, editor]", "[viewer]")
    changed = changed.replace("bob@example.com}", "bob@example.com, roles: [editor]}")
    plan = planned(ours, changed)
    assert [detail for change in plan.changes for detail in change.details] == [
        "permissions: [pages:read, pages:write] -> [all, pages:read]",
        "roles: [editor, viewer] -> [viewer]",
        "roles: [] -> [editor]",
    ]
    assert len(assigned(ours)) == 2
    assert lines(applied(ours, changed)) == lines(plan)
    assert permissions(ours)["editor"] == ["all", "pages:read"]
    assert assigned(ours) == [("ada@example.com", "viewer"), ("bob@example.com", "editor")]


def test_absent_keys_leave_roles_unchanged(ours: IdentityServices) -> None:
    applied(ours, FILE)
    plan = applied(ours, f"{TENANT}    accounts: [{{email: ada@example.com, first_name: Ada}}]\n")
    assert roles_of(plan) == []
    assert (len(permissions(ours)), len(assigned(ours))) == (2, 2)


@pytest.mark.both_databases
def test_role_that_file_omits_is_removed_with_prune_only(ours: IdentityServices) -> None:
    applied(ours, FILE)
    fewer = f"{TENANT}    roles: [{{name: viewer, permissions: ['pages:read']}}]\n"
    plan = applied(ours, fewer)
    assert roles_of(plan) == [("editor", "unchanged"), ("viewer", "unchanged")]
    assert "not in the file; remove it with --prune" in str(plan)
    assert len(assigned(ours)) == 2
    assert roles_of(applied(ours, fewer, prune=True)) == [("editor", "remove"), ("viewer", "unchanged")]
    assert assigned(ours) == [("ada@example.com", "viewer")]


def test_exported_roles_apply_to_another_installation(ours: IdentityServices) -> None:
    applied(ours, FILE)
    exported = export(ours, "acme")
    assert applied(ours, exported).is_empty
    other = exported.replace("name: acme", "name: globex").replace("api_key: ", "# ")
    applied(ours, other)
    assert {row.name: row.permissions for row in rows(ours, "roles", "globex")} == permissions(ours)
    assert len(rows(ours, "account_roles", "globex")) == 2
    assert {row.tenant_id for row in rows(ours, "roles", "globex")}.isdisjoint(
        {row.tenant_id for row in rows(ours, "roles")}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{TENANT}    roles: [{{name: editor}}, {{name: Editor}}]\n", "f.yaml:3: tenants[0].roles[1].name: is listed twice"),
        (f"{TENANT}    roles: [{{name: editor}}, {{name: edltor}}]\n", "The name edltor looks like the role editor."),
        (f"{TENANT}    roles: [{{name: a/b}}]\n", "tenants[0].roles[0]: expected another value: The name has characters"),
        (f"{TENANT}    roles: [{{name: editor, permissions: ['a,b']}}]\n", "permissions has a name that is not valid"),
        (f"{TENANT}    roles: [{{permissions: [a]}}]\n", "tenants[0].roles[0].name"),
        (TENANT + ACCOUNT, "tenants[0].accounts[0].roles[0]: expected the name of a role of this tenant; found 'viewer'"),
        (TENANT + ROLES + ACCOUNT.replace("viewer", "Viewer"), "found 'Viewer'"),
    ],
)  # fmt: skip
def test_bad_roles_in_file_are_refused(ours: IdentityServices, text: str, expected: str) -> None:
    assert expected in refusal(ours, text)
    assert rows(ours, "roles") == []


def test_pruned_role_cannot_be_assigned(ours: IdentityServices) -> None:
    applied(ours, FILE)
    text = FILE.replace('      - {name: viewer, permissions: ["pages:read"]}\n', "")
    assert planned(ours, text).is_empty
    with pytest.raises(ConfigurationError, match="found 'viewer'"):
        applied(ours, text, prune=True)
    assert len(assigned(ours)) == 2


@pytest.mark.both_databases
def test_file_role_that_looks_like_stored_role_is_refused(ours: IdentityServices) -> None:
    applied(ours, FILE)
    text = f"{TENANT}    roles: [{{name: EDITOR}}]\n"
    assert "The name EDITOR looks like the role editor." in refusal(ours, text)
    applied(ours, text, prune=True)
    assert list(permissions(ours)) == ["EDITOR"]
    assert assigned(ours) == []


def test_demo_file_gives_ada_both_roles(ours: IdentityServices) -> None:
    apply_configuration.apply(ours, read_file(Path(__file__).resolve().parents[3] / "examples" / "demo.yaml"))
    assert assigned(ours) == [("ada@example.com", "customer"), ("ada@example.com", "shop manager")]
