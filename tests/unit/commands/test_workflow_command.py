"""`gatehouse workflow try`: a draft in a file, tried on the sign-ins of the audit log."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.identity.platform.audit import audit, time_ordered_id
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.processes.command_line import Run, refused
from tests.support.workflows.drawings import branching, node, sequence
from tests.support.workflows.past_sign_ins import facts


def sign_in(folder: Path, days_ago: float, **stored: Any) -> None:
    """Write a sign-in of the only tenant."""
    database = Database(f"sqlite:///{folder / 'gatehouse.db'}")
    with database.connect() as connection:
        (tenant_id,) = connection.exec_driver_sql("SELECT tenant_id FROM tenants").one()
    at = datetime.now(UTC) - timedelta(days=days_ago)
    with UnitOfWork(database, tenant_id).separate_transaction() as work:
        row = {
            "tenant_id": tenant_id,
            "entry_id": time_ordered_id(at),
            "at": at,
            "event": "event.Login",
            "uid": "ada",
            "address": "192.0.2.7",
        }
        work.run(audit.insert(), {**row, "client_id": None, "reference": None, "facts": facts(**stored)})
    database.dispose()


def draft(folder: Path, content: Any) -> str:
    (folder / "draft.json").write_text(json.dumps(content))
    return "draft.json"


def test_report_counts_stopped_and_interrupted_sign_ins(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    sign_in(tmp_path, 1, new=["country"])
    sign_in(tmp_path, 2)
    sign_in(tmp_path, 40, new=["country"])
    shown = run(
        "workflow", "try", draft(tmp_path, {"Name": "Draft", "Data": branching("sign_in.is_new_country")})
    ).output

    assert shown.startswith("2 sign-ins from ")
    assert (
        "Would have stopped 1, asked 0 for a second factor and 0 for more data, and completed 1. Undecided: 0." in shown
    )
    assert (
        "  Condition          new: reached 2, false 1, true 1\n  Deny               refused: reached 1, stopped 1"
        in shown
    )
    shown = run("workflow", "try", draft(tmp_path, sequence(node("mfa", "MFA"))), "--since", "50d").output
    assert "asked 3 for a second factor" in shown


def test_json_has_the_counts_of_the_api(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    sign_in(tmp_path, 1)
    call = node("ask", "HttpCall", url="https://nowhere.invalid", on_failure="continue")
    arguments = (
        "workflow",
        "try",
        draft(tmp_path, sequence(call)),
        "--tenant",
        "acme",
        "--assume-calls",
        "deny",
        "--json",
    )
    trial = json.loads(run(*arguments).output)

    assert (trial["SignIns"], trial["Stopped"], trial["IsComplete"]) == (1, 1, True)


def test_facts_that_the_log_lacks_are_named(run: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    sign_in(tmp_path, 1, organization_named=True)
    shown = run(
        "workflow", "try", draft(tmp_path, branching("account.country == 'DE' or organization.id == 'x'"))
    ).output

    assert "  organization.id: 1 sign-in" in shown
    assert "As the accounts are now, not as they were: account.country." in shown


@pytest.mark.parametrize(
    ("content", "options", "sentence"),
    [
        ("{", (), "draft.json:2: expected valid YAML"), ("[1]", (), "draft.json: expected"),
        ('{"nodes": [], "edges": []}', (), "draft.json: expected nodes"),
        (None, ("--since", "soon"), "--since: expected 30d, 12h, or a date"), (None, ("--until", "40d"), "--since must be before --until."),
        (None, ("--since", "99999d"), ""), (None, ("--tenant", "nobody"), "no tenant 'nobody'"),
    ],
)  # fmt: skip
def test_unusable_draft_or_time_is_refused(
    run: Run, file: str, tmp_path: Path, content: str | None, options: tuple[str, ...], sentence: str
) -> None:
    run("apply", file)
    draft(tmp_path, sequence())
    if content is not None:
        (tmp_path / "draft.json").write_text(content)
    result = run("workflow", "try", "draft.json", *options)

    assert sentence in (refused(result) if sentence else result.output)
    assert sentence or result.exit_code == 0


def test_tenant_is_named_where_there_are_several(run: Run, tmp_path: Path) -> None:
    (tmp_path / "both.yaml").write_text("tenants: [{name: acme}, {name: globex}]")
    run("apply", "both.yaml")

    assert "Name the tenant with --tenant" in refused(run("workflow", "try", draft(tmp_path, sequence())))
    run("tenant", "suspend", "acme", "--yes")
    assert "acme is suspended" in refused(run("workflow", "try", "draft.json", "--tenant", "acme"))


def test_missing_file_is_named(run: Run) -> None:
    assert "nowhere.json: No such file" in refused(run("workflow", "try", "nowhere.json"))


def test_help_spells_the_default_as_its_choice(run: Run) -> None:
    shown = " ".join(run("workflow", "try", "--help").output.split())
    assert "[unknown|continue|deny|failure]" in shown
    assert "[default: unknown]" in shown
