"""What the rows are measured on: one tenant, one relying party, some accounts; SQLite in a folder of its own, or a PostgreSQL database."""

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.support.services.servers import PostgresUrls
from tools.bench.servers import BenchServer, free_port
from tools.bench.visitor import BenchVisitor, MeasuredResponse, Unexpected, form_of

ROOT = Path(__file__).resolve().parents[2]
GATEHOUSE = Path(sys.executable).with_name("gatehouse")
TENANT, TWO_STEP_TENANT, RELYING_PARTY = "bench", "bench-two", "bench-shop"
ON_SQLITE = PostgresUrls("", "")
SECRET_KEY = secrets.token_urlsafe(48)
CLIENT_SECRET = "a-secret-of-the-bench-only-0123456789"
REDIRECT = "http://relying.localhost/callback"
PASSWORD = "Correct-horse-7-battery"
API_KEY, API_SECRET = "5e0c7d1a-0000-4000-8000-00000000be01", "5e0c7d1a-0000-4000-8000-00000000be02"
"""Of the tenant `bench`."""
ORGANIZATION = "Bench Gardens"
ORGANIZATIONS = {
    "api_key": API_KEY,
    "api_secret": API_SECRET,
    "organization_roles": [{"name": "Manager", "permissions": ["org:manage"]}],
    "organizations": [{"name": ORGANIZATION, "members": [{"account": "ada1@example.com", "roles": ["Manager"]}]}],
}
ACCOUNTS = 50
THEMES = ROOT / "examples" / "themes"
THEMED = ("bank", "game", "government", "newspaper", "shop")
"""Example themes: the tenant `bench-NAME` has each."""
CHEAP_HASH = {"memory_kib": 8192, "iterations": 1, "parallelism": 1}
"""The least the product allows: it disturbs other measurements least."""
UNLIMITED = {
    "sign_in_per_minute_per_address": 0,
    "sign_in_per_minute": 0,
    "token_per_minute_per_client": 0,
    "availability_per_minute_per_address": 0,
    "authorize_per_minute_per_address": 0,
    "register_per_minute_per_address": 0,
    "forgot_per_minute_per_address": 0,
    "forgot_per_minute": 0,
    "reset_per_minute_per_address": 0,
    "federation_starts_per_minute_per_address": 0,
}
_MANY: dict[str, int] = {"amount": 10_000, "minutes": 1440}
SENDING = {"mails": _MANY, "mails_in_all": _MANY, "mails_by_type": {"forgotpassword": _MANY}}
"""Limits that no row reaches: beyond them a request sends no email, and costs less. They are counted all the same."""

QUESTIONS = {"pet": "What was your first pet called?", "town": "In which town were you born?"}
TWO_STEPS = {
    "email_verification": "required",  # else no second factor is switched on
    "two_factor": "required",
    "second_factors": {
        "totp": False,
        "email": False,
        "passkey": False,
        "security_questions": True,
        "backup_codes": False,
    },
    "security_questions": QUESTIONS,
    "passkeys": True,
    "passkey_settings": {"progressive_enrollment": False},
}
"""A second factor with the same response at every sign-in, so that no waiting for codes is measured."""


def configuration(tenant: str, hashing: dict[str, int], **settings: Any) -> dict[str, Any]:
    """The tenant as configuration: everything as shipped, but for limits that a bench would hit."""
    return {
        "name": tenant,
        "settings": {
            "email_verification": "optional",
            "limits": UNLIMITED,
            "sending": SENDING,
            "argon2": hashing,
            **settings,
        },
        "applications": [
            {
                "name": RELYING_PARTY,
                "protocol": "openid",
                "client_id": f"{tenant}-{RELYING_PARTY}",
                "client_secret": CLIENT_SECRET,
                "redirect_uris": [REDIRECT],
                "grant_types": ["authorization_code", "refresh_token", "client_credentials"],
                "require_consent": False,
            }
        ],
        "accounts": [
            {"email": email(number), "password": PASSWORD, "email_verified": True} for number in range(ACCOUNTS)
        ],
    }


def email(number: int) -> str:
    return f"ada{number % ACCOUNTS}@example.com"


@dataclass
class Scene:
    """The product with its data folder, and the bare view beside it."""

    folder: Path
    port: int
    product: BenchServer
    bare: BenchServer
    options: frozenset[str] = field(default_factory=frozenset)
    database: PostgresUrls = ON_SQLITE

    @classmethod
    def open(cls, options: frozenset[str], database: PostgresUrls = ON_SQLITE) -> Self:
        """Make the data, start both servers."""
        folder = Path(tempfile.mkdtemp(prefix="gatehouse-bench-"))
        port, bare_port = free_port(), free_port()
        try:
            prepare(folder, port, database)
            bare_command = [sys.executable, "-m", "tools.bench.bare", f"127.0.0.1:{bare_port}"]
            bare = BenchServer.start(bare_command, bare_port, folder / "bare.log")
            try:
                return cls(folder, port, start_product(folder, port, database), bare, options, database)
            except BaseException:
                bare.stop()
                raise
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def close(self) -> None:
        self.product.stop()
        self.bare.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def restart(self) -> float:
        """Start the product anew; return the seconds to the first login page, the best of three."""
        best = float("inf")
        for _ in range(3):
            self.product.stop()
            began = time.monotonic()
            self.product = start_product(self.folder, self.port, self.database)
            self.visitor().get("/login").expect(200)
            best = min(best, time.monotonic() - began)
        return best

    @contextmanager
    def workers(self, count: int) -> Iterator[None]:
        """Serve by this many processes meanwhile, with a shared Redis."""
        redis_port = free_port()
        redis = [
            "redis-server",
            "--port",
            str(redis_port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(self.folder),
        ]
        shared = BenchServer.start(redis, redis_port, self.folder / "redis.log")
        self.product.stop()
        try:
            address = f"redis://127.0.0.1:{redis_port}/0"
            self.product = start_product(self.folder, self.port, self.database, "--workers", str(count), redis=address)
            yield
        finally:
            self.product.stop()
            shared.stop()
            self.product = start_product(self.folder, self.port, self.database)

    def visitor(self, tenant: str = TENANT) -> BenchVisitor:
        """Return a visitor without cookies."""
        return BenchVisitor(self.port, f"{tenant}.localhost:{self.port}")

    def add_tenant(self, tenant: dict[str, Any]) -> None:
        """Create one more tenant, as its configuration states it."""
        stated = self.folder / f"{tenant['name']}.yaml"
        stated.write_text(json.dumps({"tenants": [tenant]}))
        _run(self.folder, self.port, self.database, ["apply", str(stated)])

    def password(self, visitor: BenchVisitor, number: int) -> MeasuredResponse:
        """The page, and its form with a password."""
        form = form_of(visitor.get("/login").expect(200), "current-password")
        sent = form.with_values(username=email(number), current_password=PASSWORD)
        return visitor.post(form.action, sent).expect(302, 303)

    def answers(self, visitor: BenchVisitor, challenge: MeasuredResponse) -> MeasuredResponse:
        """The page of the second factor, and its form with an answer to each question."""
        form = form_of(visitor.follow(challenge).expect(200), "off")
        provided = {f"answer.{name}": f"an answer about the {name}" for name in QUESTIONS}
        return visitor.post(form.action, {**form.carried, **provided}).expect(302, 303)

    def sign_in(self, visitor: BenchVisitor, number: int, *, has_two_steps: bool = False) -> MeasuredResponse:
        """The page, the form, those of the second factor, and the page it leads to."""
        answer = self.password(visitor, number)
        landing = visitor.follow(self.answers(visitor, answer) if has_two_steps else answer)
        if landing.status != 200:
            raise Unexpected(f"a sign-in ended at {landing.path} with {landing.status}")
        return landing


def environment(folder: Path, port: int, database: PostgresUrls = ON_SQLITE) -> dict[str, str]:
    """The settings, and a folder for bytecode, which an installed product has and a checkout may not be allowed to write."""
    return {
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
        "GATEHOUSE_DATA_DIR": str(folder / "data"),
        "GATEHOUSE_DATABASE_URL": database.runtime_url,
        "GATEHOUSE_MIGRATE_URL": database.migrate_url,
        "GATEHOUSE_SECRET_KEY": SECRET_KEY,
        "GATEHOUSE_REDIS_URL": "",
        "GATEHOUSE_HUB_DOMAIN": f"localhost:{port}",
        "GATEHOUSE_COST": "1",
    }


def prepare(folder: Path, port: int, database: PostgresUrls) -> None:
    """Migrate and apply: tenants with the cheapest hash for the CPU rows, one with the shipped hash for memory."""
    stated = folder / "bench.yaml"
    tenants = [
        {**configuration(TENANT, CHEAP_HASH), **ORGANIZATIONS},
        configuration(TWO_STEP_TENANT, CHEAP_HASH, **TWO_STEPS),
        configuration(f"{TENANT}-hash", {}),
        *(themed(folder, name) for name in THEMED),
    ]
    stated.write_text(json.dumps({"tenants": tenants}, indent=1))
    for command in (["migrate"], ["apply", str(stated)]):
        _run(folder, port, database, command)


def _run(folder: Path, port: int, database: PostgresUrls, command: list[str]) -> None:
    """Run a command of the product, which must succeed."""
    completed = subprocess.run(
        [str(GATEHOUSE), *command],
        env={**os.environ, **environment(folder, port, database)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if completed.returncode != 0:
        raise Unexpected(f"gatehouse {command[0]} failed:\n{completed.stdout[-1500:]}\n{completed.stderr[-1500:]}")


def themed(folder: Path, name: str) -> dict[str, Any]:
    """The tenant of an example theme, which is copied beside the configuration."""
    shutil.copytree(THEMES / name, folder / name)
    tenant = configuration(f"{TENANT}-{name}", CHEAP_HASH)
    return {**tenant, "theme": name, "accounts": tenant["accounts"][:1]}


def start_product(folder: Path, port: int, database: PostgresUrls, *options: str, redis: str = "") -> BenchServer:
    """Start `gatehouse serve` on the scene's data."""
    command = [str(GATEHOUSE), "serve", "--bind", f"127.0.0.1:{port}", *options]
    stated = {**environment(folder, port, database), "GATEHOUSE_REDIS_URL": redis}
    return BenchServer.start(command, port, folder / "product.log", stated)
