"""`gatehouse account` lists, shows and changes the accounts of a tenant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from app.commands.errors import open_services
from app.commands.prompts import outside_requests
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials import credential_store
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context
from tests.support.processes.command_line import SECRETS, Run, refused

FILE = """
tenants:
  - name: acme
    roles: [{name: staff}]
    accounts:
      - {email: ada@example.com, password: correct-horse-7, email_verified: true, first_name: Ada, last_name: Lovelace, roles: [staff]}
      - {email: bob@example.com}
"""


@pytest.fixture
def acme(run: Run, tmp_path: Path) -> Run:
    """The commands over a database with the accounts of Ada and Bob."""
    (tmp_path / "acme.yaml").write_text(FILE)
    assert run("apply", "acme.yaml").exit_code == 0
    return run


def listed(run: Run, *options: str) -> list[str]:
    lines = run("account", "list", "--json", *options).output.splitlines()
    return [json.loads(line)["Email"][0]["Value"] for line in lines]


def test_accounts_are_listed_by_conditions(acme: Run) -> None:
    assert listed(acme, "--sort", "email") == ["ada@example.com", "bob@example.com"]
    assert listed(acme, "--sort", "email", "--order", "desc", "--limit", "1") == ["bob@example.com"]
    assert listed(acme, "--text", "love", "--verified") == ["ada@example.com"]
    assert listed(acme, "--role", "staff", "--tenant", "acme") == ["ada@example.com"]
    done = acme("account", "list", "--text", "ada")
    assert "ada@example.com" in done.stdout
    assert "Ada Lovelace" in done.stdout
    starts = [re.split(r"  +", line) for line in (done.stderr.rstrip(), done.stdout.rstrip())]
    assert starts[0] == ["Uid", "Email, username or phone", "Name", "Created", "Last sign-in", "State"]
    assert starts[1][4:] == ["never", "active"]
    assert done.stderr.index("Last sign-in") == done.stdout.index("never")
    assert acme("account", "list", "--text", "zoe").output == "No accounts.\n"


def test_terminal_obeys_no_name(run: Run, tmp_path: Path) -> None:
    file = FILE.replace("first_name: Ada", 'first_name: "Ada\\e[2J\\u202e"')
    (tmp_path / "acme.yaml").write_text(file)
    assert run("apply", "acme.yaml").exit_code == 0
    for printed in (run("account", "list").output, run("account", "show", "ada@example.com").output):
        assert "Ada\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER} Lovelace" in printed
        assert printed.replace("\n", "").isprintable()


def test_wrong_option_of_list_is_named(acme: Run) -> None:
    assert "--created-from: " in refused(acme("account", "list", "--created-from", "yesterday"))
    assert "There's no tenant 'globex'" in refused(acme("account", "list", "--tenant", "globex"))


def test_account_is_shown_by_each_identifier(acme: Run) -> None:
    profile = json.loads(acme("account", "show", "ADA@example.com", "--json").output)
    assert "Ada Lovelace" in acme("account", "show", profile["Uid"]).output
    assert "acme has no account 'zoe'" in refused(acme("account", "show", "zoe"))


def test_account_is_blocked_and_unblocked(acme: Run) -> None:
    blocked = acme("account", "block", "ada@example.com", "--tenant", "acme").output
    assert "run 'gatehouse account unblock ada@example.com --tenant acme'." in blocked
    assert listed(acme, "--blocked") == ["ada@example.com"]
    assert "blocked" in acme("account", "show", "ada@example.com").output
    acme("account", "unblock", "ada@example.com")
    assert listed(acme, "--blocked") == []
    entries = [
        json.loads(line) for line in acme("audit", "acme", "--email", "ada@example.com", "--json").output.splitlines()
    ]
    assert "address=" not in acme("audit", "acme", "--limit", "1").output  # a command has none
    acts = {entry["event"]: entry["facts"].get("act") for entry in entries}
    assert (acts["account.blocked"], acts["account.unblocked"]) == ("command", "command")


def test_account_without_factors_and_sessions(acme: Run) -> None:
    assert "has no second factor" in refused(acme("account", "reset-factors", "bob@example.com", "--yes"))
    assert acme("account", "sessions", "bob@example.com").output == "No sessions.\n"
    assert "Ended 0 sessions" in acme("account", "sessions", "bob@example.com", "--end").output


@pytest.fixture
def context(acme: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Context]:
    """The tenant of the commands, as they open it."""
    monkeypatch.setenv("GATEHOUSE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("GATEHOUSE_SECRET_KEY", SECRETS[0])
    with open_services() as services, outside_requests(services, "acme") as opened:
        yield opened


def test_factors_are_removed_with_backup_codes(acme: Run, context: Context) -> None:
    account = accounts.by_email(context, "ada@example.com")
    assert account is not None
    credential_store.add(context, account.uid, FactorKind.TOTP, is_enrolled=True)
    second_factors.generate_backup_codes(context, account, is_first=True)
    context.commit()
    assert "Add --yes" in refused(acme("account", "reset-factors", "ada@example.com"))
    removed = acme("account", "reset-factors", "ada@example.com", "--yes").output
    assert removed == "Removed totp, backup_code of ada@example.com.\n"
    assert "has no second factor" in refused(acme("account", "reset-factors", "ada@example.com", "--yes"))


def test_sessions_are_listed_and_ended(acme: Run, context: Context) -> None:
    account = accounts.by_email(context, "ada@example.com")
    assert account is not None
    sessions.start_for_grant(context, account.uid, ("pwd",), "desk", timedelta(hours=1))
    context.commit()
    (line,) = acme("account", "sessions", "ada@example.com", "--json").output.splitlines()
    assert json.loads(line)["SessionId"]
    shown = acme("account", "sessions", "ada@example.com")
    assert shown.stderr.split() == ["Session", "Last", "seen", "Expires", "Address", "Browser"]
    assert shown.stdout.startswith(json.loads(line)["SessionId"])
    assert "Ended 1 session of" in acme("account", "sessions", "ada@example.com", "--end").output
    assert acme("account", "sessions", "ada@example.com").output == "No sessions.\n"


def test_each_link_of_a_new_password_is_new(acme: Run) -> None:
    address, warning = acme("account", "link", "bob@example.com").output.splitlines()
    assert warning.endswith(" It expires in 24 hours.")
    parts = urlsplit(address)
    assert parts.netloc == "acme.localhost:8000"
    assert parts.path.startswith("/r/")
    assert acme("account", "link", "bob@example.com").output.splitlines()[0] != address
