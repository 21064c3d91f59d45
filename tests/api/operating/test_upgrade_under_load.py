"""Upgrading two instances to a version with one more migration during sign-ins fails no request.

GATEHOUSE_TESTS_UPGRADE_SECONDS lengthens the load before, between and after the steps.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest
from psycopg import sql

from app.identity.platform.store.migrate import HEAD
from tests.support.processes.commands import ROOT, Version, this_version
from tests.support.processes.fleet import Balancer, Fleet, Load, send
from tests.support.processes.installation import Installation, installed
from tests.support.services.servers import PostgresUrls

SECONDS = float(os.environ.get("GATEHOUSE_TESTS_UPGRADE_SECONDS", "0"))
LATER = f"{int(HEAD) + 1:04d}"
PASSWORD, ADA = "a calm harbour at dawn", "ada@example.test"
MIGRATION = f'''
from alembic import op
from sqlalchemy import Column, Integer, String

from app.identity.platform.store.migrations.ddl import protect
from app.identity.platform.store.migrations.ddl import add_index
from app.identity.platform.store.tables import Id

revision, down_revision = "{LATER}", "{HEAD}"
oldest_code = "{HEAD}"
branch_labels = depends_on = None


def upgrade():
    op.add_column("access_tokens", Column("made_by", String(16)))
    op.add_column("accounts", Column("colour", Integer, nullable=False, server_default="7"))
    op.create_table("colours", Column("tenant_id", Id, primary_key=True), Column("colour", Integer, primary_key=True))
    protect("colours")
    add_index("ix_access_tokens_made_by", "access_tokens", ["tenant_id", "made_by"])


def downgrade():
    op.drop_index("ix_access_tokens_made_by", "access_tokens")
    op.drop_table("colours")
    op.drop_column("accounts", "colour")
    op.drop_column("access_tokens", "made_by")
'''


@pytest.fixture
def next_version(tmp_path: Path) -> Path:
    """Return the code of a next version: one more migration, and code that needs it."""
    root = tmp_path / "next"
    shutil.copytree(ROOT / "app", root / "app", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("tests", "templates", "static", "translations", "examples", "docs", "pyproject.toml"):
        (root / name).symlink_to(ROOT / name)
    store = root / "app/identity/platform/store"
    (store / f"migrations/versions/{LATER}_colours.py").write_text(MIGRATION)
    change(store / "migrate.py", f'HEAD = "{HEAD}"', f'HEAD = "{LATER}"')
    column = '    Column("scope", String(1000), nullable=False, default=""),\n'
    change(
        root / "app/identity/credentials/tokens/token_store.py",
        column,
        column + '    Column("made_by", String(16), default="next"),\n',
    )
    return root


def change(file: Path, before: str, after: str) -> None:
    text = file.read_text()
    assert before in text
    file.write_text(text.replace(before, after, 1))


@pytest.fixture
def ours(copied_postgres: PostgresUrls, tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path, copied_postgres) as made:
        made.environ["GATEHOUSE_MIGRATE_URL"] = copied_postgres.migrate_url
        audience = f"http://api.localhost:{made.port}/identity/v2/manage"
        robot = {
            "name": "robot", "client_id": "robot", "client_secret": "the-robot-keeps-a-secret", "application_type": "m2m",
            "grant_types": ["client_credentials"], "redirect_uris": [], "audience_scopes": {audience: ["profile:read"]},
        }  # fmt: skip
        ada = {"email": ADA, "password": PASSWORD, "email_verified": True}
        made.state({"name": "acme", "accounts": [ada], "applications": [robot], "settings": {"email_login": True}})
        yield made


class UpgradeClient:
    """A program that signs in and gets tokens through the instances that are ready."""

    def __init__(self, ours: Installation, balancer: Balancer) -> None:
        self._balancer = balancer
        self._key = urlencode({"apikey": ours.api_key})
        self._hosts = (f"api.localhost:{ours.port}", f"acme.localhost:{ours.port}")
        audience = f"http://api.localhost:{ours.port}/identity/v2/manage"
        self._form = urlencode({"grant_type": "client_credentials", "audience": audience}).encode()
        self._credentials = base64.b64encode(b"robot:the-robot-keeps-a-secret").decode()

    def sign_in(self) -> None:
        """Sign in with a password, and read the profile with the token."""
        body = json.dumps({"email": ADA, "password": PASSWORD}).encode()
        headers = {"Host": self._hosts[0], "Content-Type": "application/json"}
        answer = send(self._balancer.pick(), "POST", f"/identity/v2/auth/login?{self._key}", headers, body)
        assert answer.status == 200, (answer.status, answer.content)
        bearer = {**headers, "Authorization": f"Bearer {answer.json()['access_token']}"}
        answer = send(self._balancer.pick(), "GET", f"/identity/v2/auth/account?{self._key}", bearer)
        assert answer.status == 200, (answer.status, answer.content)

    def token(self) -> None:
        """Get a machine token."""
        headers = {"Host": self._hosts[1], "Content-Type": "application/x-www-form-urlencoded"}
        headers["Authorization"] = f"Basic {self._credentials}"
        answer = send(self._balancer.pick(), "POST", "/service/oauth/token", headers, self._form)
        assert answer.status == 200, (answer.status, answer.content)


def test_upgrade_under_load_fails_no_request(
    ours: Installation,
    next_version: Path,
    copied_postgres: PostgresUrls,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    log, load, balancer, fleet = tmp_path / "log", Load(), Balancer(), Fleet(ours)
    with ExitStack() as stack:
        old, new = this_version(), Version.load(next_version, log)
        for close in (new.close, fleet.close, balancer.close, load.end):
            stack.callback(close)
        instances = [fleet.serve(old, balancer) for _ in range(2)]
        begin(load, UpgradeClient(ours, balancer))
        started_at = time.monotonic()
        new.run(ours.environ, "migrate")
        migration_seconds = time.monotonic() - started_at
        wait_for_load(load)
        instances += [fleet.serve(old, balancer)]  # a crashed instance is restarted
        fleet.retire(instances.pop(0), balancer)
        for instance in instances:
            fleet.serve(new, balancer)
            fleet.retire(instance, balancer)
        wait_for_load(load)
        load.end()
    made_by, least_ready = tokens_by_version(copied_postgres), balancer.least_ready
    with capsys.disabled():
        print(
            f"\nupgrade: {dict(load.done)}, failed {len(load.failed)}, ready at least {least_ready} of 2, "
            f"migrate {migration_seconds:.1f} s, {made_by}"
        )
    assert load.failed == [], log.read_text()[-6000:]
    assert least_ready == 2
    assert set(made_by) == {"this", "next"}
    assert "The database is at schema" not in log.read_text(), (
        "an instance reported that it cannot serve the new schema"
    )


def begin(load: Load, client: UpgradeClient) -> None:
    client.sign_in()  # the first sign-in renews the password hash with the tenant's parameters
    for _ in range(4 if SECONDS else 1):
        load.add("sign-ins", client.sign_in)
        load.add("tokens", client.token)
    wait_for_load(load)


def wait_for_load(load: Load) -> None:
    """Let the load continue until it has met the latest change."""
    time.sleep(SECONDS)
    for name in ("sign-ins", "tokens"):
        load.more(name)


def tokens_by_version(urls: PostgresUrls) -> dict[str, int]:
    """Return how many tokens each version has issued."""
    counts = "SELECT coalesce(made_by, 'this'), count(*) FROM access_tokens GROUP BY 1"
    with psycopg.connect(urls.runtime_url) as connection:
        connection.execute("SET LOCAL gatehouse.tenant = 'lookup'")
        (tenant,) = connection.execute("SELECT tenant_id FROM tenants").fetchone() or ("",)
        connection.execute(sql.SQL("SET LOCAL gatehouse.tenant = {}").format(tenant))
        return dict(connection.execute(counts).fetchall())
