"""The command line: effects of the commands, and the messages of their refusals."""

import json
import re
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy.engine import make_url

from app import settings
from app.cli import COMMANDS
from app.identity.platform import saml_certificates
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.lanes import MAIL
from app.identity.platform.outbox.outbox import Outbox
from app.identity.platform.store import migrate
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import SystemClock
from tests.support.processes.command_line import FILE, SECRETS, Run, refused
from tests.support.services.servers import Postgres, PostgresUrls


def test_every_sms_sender_starts(tmp_path: Path) -> None:
    """As docs/configuration.md writes them; only those that call read codes out."""
    twilio = "twilio://AccountSid:AuthToken@api.twilio.com?from=+15550100"
    senders = {
        "inbox:": True,
        twilio: False,
        f"{twilio}&voice=+15550101": True,
        "https://:token@gateway.example/send": False,
    }
    environ = {"GATEHOUSE_SECRET_KEY": SECRETS[0]}
    for url, speaks in senders.items():
        assert settings.read({**environ, "GATEHOUSE_SMS_URL": url}, tmp_path).sms_speaks is speaks


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(run: Run, name: str) -> None:
    shown = run(name, "--help")
    assert shown.exit_code == 0
    assert shown.output.startswith("Usage:")
    assert "..." not in shown.output.partition("Commands:")[2], "a summary is cut off"


def test_tenant_is_applied_exported_listed_and_removed(run_anew: Run, file: str) -> None:
    assert "Plan: 2 to create" in run_anew("apply", file, "--dry-run").output
    done = run_anew("apply", file)
    assert "Done: 2 created" in done.output
    assert len(re.findall(r"^  (?:tenant|application) \S+ \w+: \S+$", done.output, re.MULTILINE)) == 4
    assert run_anew("apply", file).output.endswith("Done: 0 created, 0 changed, 0 removed, 2 unchanged.\n")
    assert "name: desk" in run_anew("export", "acme").output
    assert "http://acme.localhost:8000" in run_anew("tenant", "list").output
    assert run_anew("tenant", "remove", "acme", "--yes").exit_code == 0
    empty = run_anew("tenant", "list")
    assert (empty.stdout, empty.stderr.startswith("No tenants in sqlite:///")) == ("", True)


def test_doctor_names_the_database(run: Run, file: str) -> None:
    run("apply", file)
    ready, address = run("doctor").output.splitlines()
    assert re.fullmatch(r"The database is ready: SQLite with schema \d{4}\.", ready)
    assert re.fullmatch(r"Its address is sqlite:///.+\.db", address)


def test_doctor_warns_of_certificates_that_expire(run: Run, tmp_path: Path) -> None:
    now = SystemClock().now()

    def client(name: str, days: int) -> dict[str, object]:
        certificate, key = saml_certificates.generate(name, now - timedelta(days=3_650 - days))
        return {"app_name": name, "idp_certificate": {"certificate": certificate}, "key": key}

    clients = [client("soon", 30), client("gone", -1), client("later", 100)]
    text = json.dumps({"tenants": [{"name": "acme", "saml_clients": clients}]})
    (tmp_path / "clients.yaml").write_text(text)
    assert run("apply", "clients.yaml").exit_code == 0
    warnings = run("doctor").stderr.splitlines()
    day = now.date()
    assert warnings == [
        f"Warning: acme: the certificate of the SAML client {name} {verb} on {day + timedelta(days=days)}. Publish the next one."
        for name, verb, days in (("gone", "expired", -1), ("soon", "expires", 30))
    ]


def test_tenant_is_removed_only_after_confirmation(run: Run, file: str) -> None:
    run("apply", file)
    assert run("tenant", "remove", "acme").exit_code == 2
    assert "acme" in run("tenant", "list").output


def test_invalid_file_is_refused_with_all_its_problems(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("tenants:\n  - name: api\n    colour: red\n")
    assert refused(run("apply", "bad.yaml")).splitlines() == [
        "Found 2 problems and changed nothing:",
        "bad.yaml:2: tenants[0].name: expected another name; this one is reserved; found 'api'",
        "bad.yaml:3: tenants[0].colour: isn't a known key; did you mean color?",
    ]


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["serve", "--bind", "0.0.0.0:23999"], {}, "isn't a loopback address"),
        (["serve", "--bind", "127.example.com:23999"], {}, "isn't a loopback address"),
        (["demo", "--bind", "localhost.example.com:23999"], {}, "loopback address"),
        (["serve", "--bind", "9000"], {}, "use HOST:PORT"),
        (["serve", "--bind", "127.0.0.1:23999"], {"hub_domain": "localhost:8000"}, "set it to localhost:23999"),
        (["serve", "--bind", "127.0.0.1:23999"], {"hub_domain": "id.localhost"}, "set it to id.localhost:23999"),
        (["serve", "--only", "hub"], {}, "GATEHOUSE_API_URL"),
        (["serve", "--workers", "2"], {}, "GATEHOUSE_REDIS_URL"),
        (["serve"], {"scheme": "gopher"}, "http or https"),
        (["serve"], {"secret_key": "short"}, "too short"),
        (["serve"], {"mail_url": "pigeon:"}, "inbox: or smtp://"),
        (["serve"], {"database_url": "mysql://x"}, "sqlite:/// or postgresql://"),
        (["serve"], {"metrics_bind": "nowhere"}, "must be host:port"),
        (["serve"], {"metrics_bind": "127.0.0.1:99999"}, "GATEHOUSE_METRICS_BIND"),
        (["serve"], {"hashes_at_once": "abc"}, "GATEHOUSE_HASHES_AT_ONCE"),
        (["serve"], {"hashes_at_once": "0"}, "GATEHOUSE_HASHES_AT_ONCE"),
        (["serve"], {"hub_domain": "localhost:abc"}, "GATEHOUSE_HUB_DOMAIN"),
        (["serve"], {"hub_domain": "http://x"}, "GATEHOUSE_HUB_DOMAIN"),
        (["serve"], {"api_host": "api.localhost:99999"}, "GATEHOUSE_API_HOST"),
        (["serve"], {"api_host": "localhost:8000"}, "GATEHOUSE_API_HOST"),
        (["serve"], {"secret_key": "", "secret_key_file": "/bin/ls"}, "GATEHOUSE_SECRET_KEY_FILE"),
        (["serve"], {"secret_key": "", "secret_key_file": "/no/key"}, "KEY_FILE '/no/key': No such file or directory"),
        (["serve"], {"telemetry_url": "collector"}, "GATEHOUSE_TELEMETRY_URL"),
        (["serve"], {"redis_url": "foo"}, "GATEHOUSE_REDIS_URL"),
        (["serve"], {"redis_url": "redis://h:abc"}, "GATEHOUSE_REDIS_URL"),
        (["serve"], {"mail_url": "smtp://h:abc"}, "GATEHOUSE_MAIL_URL"),
        (["serve"], {"mail_url": "smtp://"}, "GATEHOUSE_MAIL_URL"),
        (["serve"], {"sms_url": "https://"}, "GATEHOUSE_SMS_URL"),
        (["serve"], {"sms_url": "twilio:"}, "GATEHOUSE_SMS_URL"),
        (["serve", "--only", "hub"], {"api_url": "identity:8000"}, "GATEHOUSE_API_URL"),
        (["serve"], {"development": "yes"}, "GATEHOUSE_DEVELOPMENT"),
        (["serve"], {"database_url": "postgresql://a:b@127.0.0.1:9/x"}, "isn't responding"),
        (["demo", "--bind", "0.0.0.0:8000"], {}, "loopback"),
        (["tenant", "remove", "nobody", "--yes"], {}, "There's no tenant 'nobody'"),
        (["export", "nobody"], {}, "There's no tenant 'nobody'"),
        (["key", "rotate", "nobody"], {}, "There's no tenant 'nobody'"),
        (["key", "revoke", "nobody"], {}, "There's no tenant 'nobody'"),
        (["initial-access-token", "create", "nobody", "partners"], {}, "There's no tenant 'nobody'"),
        (["initial-access-token", "list", "nobody"], {}, "There's no tenant 'nobody'"),
        (["initial-access-token", "revoke", "nobody", "partners"], {}, "There's no tenant 'nobody'"),
        (["migrate", "--down", "9999"], {}, "There's no revision '9999'"),
        (["outbox", "replay"], {}, "Name one MESSAGE_ID"),
        (["outbox", "replay", "nothing"], {}, "There's no dead message"),
    ],
)
def test_impossible_command_fails_with_one_sentence(
    run: Run, arguments: list[str], settings: dict[str, str], message: str
) -> None:
    sentence = refused(run(*arguments, **settings))
    assert message in sentence
    assert sentence.count("\n") == 0


@pytest.mark.parametrize("command", [("serve",), ("worker",), ("export", "acme"), ("apply", "acme.yaml")])
def test_store_encrypted_with_another_key_is_untouched(run: Run, file: str, command: tuple[str, ...]) -> None:
    run("apply", file)
    sentence = refused(run(*command, secret_key=SECRETS[1]))
    assert "GATEHOUSE_SECRET_KEY" in sentence
    assert sentence.count("\n") == 0


def test_api_host_within_a_tenant_host_is_refused(run: Run, file: str) -> None:
    taken = {"api_host": "acme.localhost:8000"}
    assert "GATEHOUSE_API_HOST" in refused(run("apply", file, **taken))
    run("apply", file)
    assert "host of tenant 'acme'" in refused(run("serve", **taken))


def test_tracing_without_its_package_stops_the_start(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    sentence = refused(run("serve", telemetry_url="http://collector:4318"))
    assert "GATEHOUSE_TELEMETRY_URL" in sentence
    assert "telemetry" in sentence


def test_database_with_another_schema_is_not_served(run: Run, fresh_postgres: PostgresUrls) -> None:
    sentence = refused(run("serve", database_url=fresh_postgres.runtime_url))
    assert "Run 'gatehouse migrate'" in sentence
    assert "GATEHOUSE_MIGRATE_URL" in sentence


def test_migration_by_the_runtime_role_names_the_setting(run: Run, fresh_postgres: PostgresUrls) -> None:
    sentence = refused(run("migrate", database_url=fresh_postgres.runtime_url))
    role = make_url(fresh_postgres.runtime_url).username
    assert sentence.startswith(f"The role {role!r} can't change the schema: permission denied for schema public")
    assert sentence.endswith("Set GATEHOUSE_MIGRATE_URL to the address of the owner's role.")
    migrate.upgrade(fresh_postgres.migrate_url, runtime_role=role)
    migrate.downgrade(fresh_postgres.migrate_url, revision="0032")
    assert "Set GATEHOUSE_MIGRATE_URL" in refused(run("migrate", database_url=fresh_postgres.runtime_url))


def test_role_that_bypasses_row_security_is_not_served(
    run: Run, postgres_server: Postgres, fresh_postgres: PostgresUrls
) -> None:
    migrate.upgrade(fresh_postgres.migrate_url)
    name = fresh_postgres.runtime_url.rpartition("/")[2]
    superuser = postgres_server.url("postgres", postgres_server.superuser_password, name)
    assert "superuser" in refused(run("serve", database_url=superuser))


def test_migrate_command_upgrades_and_downgrades(run_anew: Run) -> None:
    assert run_anew("migrate").output.endswith(f": migrated from schema none to schema {migrate.HEAD}\n")
    assert run_anew("migrate").output.endswith(f": unchanged at schema {migrate.HEAD}\n")
    assert run_anew("migrate", "--down", "base").output.endswith("schema base\n")


def test_migration_grants_the_runtime_role_what_it_needs(run: Run, fresh_postgres: PostgresUrls, file: str) -> None:
    urls = {"database_url": fresh_postgres.runtime_url, "migrate_url": fresh_postgres.migrate_url}
    shown = run("migrate", **urls)
    assert shown.exit_code == 0
    assert not re.search(r":[0-9a-f]{32}@", shown.output), "a password is printed"
    assert run("apply", file, **urls).exit_code == 0


def test_unusable_database_path_is_reported(run: Run, tmp_path: Path, file: str) -> None:
    run("apply", file)
    (tmp_path / "acme.yaml").write_text(FILE.replace("desk.example", "desk2.example"))
    with (tmp_path / "blocker").open("w"):
        sentence = refused(run("apply", file, database_url=f"sqlite:///{tmp_path / 'blocker' / 'x.db'}"))
    assert "blocker" in sentence


def test_reencrypted_secrets_need_the_old_key_no_longer(run: Run, file: str) -> None:
    run("apply", file)
    run("key", "rotate", "acme")
    both = "\n".join(reversed(SECRETS))
    assert "GATEHOUSE_SECRET_KEY can't decrypt this database" in refused(
        run("secrets", "rotate", secret_key=SECRETS[1])
    )
    assert "Re-encrypted 2 values." in run("secrets", "rotate", secret_key=both).output
    assert "Re-encrypted 0 values." in run("secrets", "rotate", secret_key=SECRETS[1]).output


def test_leaked_key_is_revoked_after_confirmation(run: Run, file: str) -> None:
    run("apply", file)
    new = run("key", "rotate", "acme").output.split()[2]
    assert "Add --yes" in run("key", "revoke", "acme", new).output, "revoked without confirmation"
    assert f"Revoked key {new} of acme" in run("key", "revoke", "acme", new, "--yes").output
    assert f"acme has no published key {new}." in refused(run("key", "revoke", "acme", new, "--yes"))
    signs = run("key", "revoke", "acme", "--yes").output.split()[-3]
    assert f"Revoked key {signs} of acme" in run("key", "revoke", "acme", "--yes").output


def test_dead_message_is_listed_without_text_and_replayed(run: Run, tmp_path: Path) -> None:
    run("migrate")
    database, clock = Database(f"sqlite:///{tmp_path / 'gatehouse.db'}"), SystemClock()
    work = UnitOfWork(database, "acme")
    encryption = Encryption((SECRETS[0].encode(),))
    message_id = Outbox(work, clock, encryption).post("mail", {"text": "Your code is 123456"})
    work.commit()
    claimed = claims.claim(database, clock.now(), MAIL)
    assert claimed
    claims.settle_failed(database, claimed, clock.now(), "550 nobody here", is_final=True)
    shown = run("outbox", "list", "--state", "dead").output
    assert message_id in shown
    assert "550 nobody here" in shown
    assert "123456" not in shown
    assert run("outbox", "replay", message_id).output == "Queued 1 message to send again.\n"
    assert run("outbox", "list", "--state", "dead").output == "No messages.\n"


def test_ids_may_begin_with_a_hyphen(run: Run, file: str) -> None:
    run("migrate")
    run("apply", file)
    assert "There's no dead message '-Lvov'" in refused(run("outbox", "replay", "-Lvov"))
    assert "acme has no published key -Lvov." in refused(run("key", "revoke", "acme", "-Lvov", "--yes"))


def test_routes_command_prints_every_address(run: Run) -> None:
    shown = run("routes").output
    assert re.search(r"account/\{uid\}/password +passwords\.read_hash .*Machine token \(password:read\)\n", shown)
    assert re.search(r"^tenant +POST +/api/oidc/token +oauth_tokens\.token +Client credentials$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("kind", "rule"), [("nginx", "location ~* ^/hub(/|$) { return 404; }"), ("caddy", "path /hub /hub/*")]
)
def test_proxy_rules_keep_hub_calls_out(run: Run, kind: str, rule: str) -> None:
    assert rule in run("routes", "--proxy", kind).output


@pytest.mark.parametrize(
    "url", ["https://api.id.example.com", "http://api.id.example.com:8001", "http://acme.id.example.com"]
)
def test_public_host_for_hub_calls_stops_the_start(run: Run, url: str) -> None:
    sentence = refused(
        run("serve", "--only", "identity", api_url=url, hub_domain="id.example.com", mail_url="smtp://localhost")
    )
    assert "GATEHOUSE_API_URL names a public host" in sentence


def test_proxy_rules_send_token_endpoint_to_identity_service(run: Run) -> None:
    shown = run("routes", "--proxy", "nginx").output
    found = re.search(r"location ~\* (\S+) \{ proxy_pass http://identity", shown)
    assert found is not None
    rule = re.compile(found[1], re.IGNORECASE)
    assert all(
        rule.match(path) for path in ("/api/oidc/token", "/API/oidc/desk/token", "/.well-known/openid-configuration")
    )
    assert not any(
        rule.match(path) for path in ("/login", "/service/oidc/authorize", "/profile", "/api/oidc/token/more")
    )


def test_initial_access_token_is_created_listed_and_revoked(run: Run, file: str) -> None:
    run("apply", file)
    made = run("initial-access-token", "create", "acme", "partners", "--uses", "3")
    assert len(made.stdout.strip()) >= 43
    assert "won't be shown again" in made.stderr
    assert "doesn't accept registrations yet" in made.stderr
    assert "already a token 'partners'" in refused(run("initial-access-token", "create", "acme", "partners"))
    shown = run("initial-access-token", "list", "acme").output
    assert re.match(r"partners +0/3 used +expires 20\d\d-", shown)
    assert made.stdout.strip() not in shown
    assert run("initial-access-token", "revoke", "acme", "partners").output == "Revoked token partners of acme.\n"
    empty = run("initial-access-token", "list", "acme")
    assert (empty.stdout, empty.stderr) == ("", "No tokens.\n")
    assert "There's no token 'partners'" in refused(run("initial-access-token", "revoke", "acme", "partners"))


def test_revoked_token_of_a_file_comes_with_a_warning(run: Run, tmp_path: Path) -> None:
    listed = "initial_access_tokens: [{name: partners, expires_at: '2999-01-31'}]"
    (tmp_path / "acme.yaml").write_text(f"tenants: [{{name: acme, {listed}}}]")
    assert "expected a date at most 366 days ahead" in refused(run("apply", "acme.yaml"))
    soon = (SystemClock().now() + timedelta(days=9)).date()
    (tmp_path / "acme.yaml").write_text(f"tenants: [{{name: acme, {listed.replace('2999-01-31', str(soon))}}}]")
    assert re.search(r"initial_access_token acme/partners token: \S{43}", run("apply", "acme.yaml").output)
    assert "Remove it there too" in run("initial-access-token", "revoke", "acme", "partners").output
