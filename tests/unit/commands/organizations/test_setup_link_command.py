"""The command that creates, lists and revokes links to the set-up guide of an organization."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.command_line import Run, refused


@pytest.fixture
def globex(run: Run, tmp_path: Path) -> Run:
    (tmp_path / "acme.yaml").write_text("tenants: [{name: acme, organizations: [{name: Globex}]}]")
    run("apply", "acme.yaml")
    return run


def test_link_is_printed_once_and_listed(globex: Run) -> None:
    made = globex("setup-link", "create", "acme", "globex", "--days", "3", "--openings", "2")
    assert made.output.count("/setup?link=") == 1
    listed = globex("setup-link", "list", "acme", "Globex").output
    assert "active" in listed
    assert "0/2 opened" in listed
    assert made.output.partition("/setup?link=")[2][:43] not in listed


def test_revoked_link_cannot_be_revoked_again(globex: Run) -> None:
    globex("setup-link", "create", "acme", "Globex")
    link_id = globex("setup-link", "list", "acme", "Globex").output.split()[0]
    assert f"Revoked {link_id}" in globex("setup-link", "revoke", "acme", "Globex", link_id).output
    assert "revoked" in globex("setup-link", "list", "acme", "Globex").output
    assert "completed, revoked or used up" in refused(globex("setup-link", "revoke", "acme", "Globex", link_id))
    assert "no set-up link" in refused(globex("setup-link", "revoke", "acme", "Globex", "setup_link_x"))


def test_unknown_organization_is_named(globex: Run) -> None:
    assert "acme has no organization 'Initech'" in refused(globex("setup-link", "create", "acme", "Initech"))
    assert "no tenant 'nobody'" in refused(globex("setup-link", "list", "nobody", "Globex"))


def test_link_of_an_unknown_connection_is_refused(globex: Run) -> None:
    made = globex("setup-link", "create", "acme", "Globex", "--connection", "connection_x")
    assert "an active SAML connection of the organization is expected" in refused(made)
    assert "No set-up links" in globex("setup-link", "list", "acme", "Globex").output
