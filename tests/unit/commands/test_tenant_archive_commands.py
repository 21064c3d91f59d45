"""gatehouse tenant archive and tenant restore: what they print, write and refuse."""

from __future__ import annotations

import stat
from pathlib import Path

import pyrage
import pytest

from tests.support.processes.command_line import SECRETS, Run, refused, runner

PASSPHRASE = "a passphrase of the tests"


@pytest.fixture
def there(tmp_path: Path) -> Run:
    """Commands of another installation, with another secret key."""
    folder = tmp_path / "there"
    folder.mkdir()
    commands = runner(folder)

    def run(*arguments: str, **settings: str):  # type: ignore[no-untyped-def]  # as `Run`
        return commands(*arguments, **{"secret_key": SECRETS[1], **settings})

    return run


@pytest.fixture
def passphrase(tmp_path: Path) -> str:
    (tmp_path / "passphrase").write_text(f"{PASSPHRASE}\n")
    return str(tmp_path / "passphrase")


def test_both_commands_print_the_same_digest(run: Run, there: Run, file: str, tmp_path: Path, passphrase: str) -> None:
    run("apply", file)
    archive = tmp_path / "acme.archive"
    written = run("tenant", "archive", "acme", "--to", str(archive), "--passphrase-file", passphrase)
    assert written.exit_code == 0, written.output
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    shown = there("tenant", "restore", str(archive), "--passphrase-file", passphrase)
    assert shown.exit_code == 0, shown.output
    assert written.output.partition(": ")[2].strip() in shown.output
    assert "Passkeys work at" not in shown.output
    assert there("export", "acme").output == run("export", "acme").output
    sentence = refused(there("tenant", "restore", str(archive), "--passphrase-file", passphrase))
    assert sentence == "The archive's tenant is here already, as acme."


def test_another_name_changes_the_host(run: Run, there: Run, file: str, tmp_path: Path, passphrase: str) -> None:
    run("apply", file)
    archive = str(tmp_path / "acme.archive")
    run("tenant", "archive", "acme", "--to", archive, "--passphrase-file", passphrase)
    named = ("tenant", "restore", archive, "--passphrase-file", passphrase, "--as")
    for name in ("Acme", "a b", "www", "../x", "x" * 64):
        assert "can't be the name" in refused(there(*named, name))
    shown = there(*named, "globex")
    assert "Passkeys work at http://acme.localhost:8000 alone" in shown.output
    assert "http://globex.localhost:8000" in there("tenant", "list").output


def test_age_identity_file_opens_what_a_recipient_got(run: Run, there: Run, file: str, tmp_path: Path) -> None:
    run("apply", file)
    owner, archive = pyrage.x25519.Identity.generate(), str(tmp_path / "acme.archive")
    run("tenant", "archive", "acme", "--to", archive, "--recipient", str(owner.to_public()))
    assert "--identity-file" in refused(there("tenant", "restore", archive))
    (tmp_path / "key.txt").write_text(f"# created: today\n{owner}\n")
    shown = there("tenant", "restore", archive, "--identity-file", str(tmp_path / "key.txt"))
    assert shown.exit_code == 0, shown.output


def test_unusable_input_is_refused_and_leaves_no_file(run: Run, file: str, tmp_path: Path, passphrase: str) -> None:
    run("apply", file)
    archive = tmp_path / "acme.archive"
    to = ("--to", str(archive))
    assert "There's no tenant 'globex'" in refused(
        run("tenant", "archive", "globex", *to, "--passphrase-file", passphrase)
    )
    (tmp_path / "short").write_text("short\n")
    short = run("tenant", "archive", "acme", *to, "--passphrase-file", str(tmp_path / "short"))
    assert "at least 12 characters" in refused(short)
    assert "age1" in refused(run("tenant", "archive", "acme", *to, "--recipient", "ssh-rsa AAAA"))
    assert not archive.exists()
    nowhere = run("tenant", "archive", "acme", "--to", str(tmp_path / "none" / "a"), "--passphrase-file", passphrase)
    assert "There's no folder" in refused(nowhere)
    archive.write_text("mine")
    taken = run("tenant", "archive", "acme", *to, "--passphrase-file", passphrase)
    assert "already exists" in refused(taken)
    assert archive.read_text() == "mine"
    assert "isn't an archive" in refused(run("tenant", "restore", str(archive), "--passphrase-file", passphrase))
