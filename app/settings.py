"""The settings of a process: the only module that reads the environment. Per-tenant differences are data, not settings."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from app.kit.package_files import data_dir as _default_data_dir
from app.kit.settings.cpu_quota import usable_cpus
from app.kit.settings.database_url import normalized
from app.kit.settings.parsers import SettingsError as SettingsError
from app.kit.settings.parsers import captcha_urls as _captcha_urls
from app.kit.settings.parsers import count as _count
from app.kit.settings.parsers import dns_servers as _dns_servers
from app.kit.settings.parsers import file as _file
from app.kit.settings.parsers import folder as _folder
from app.kit.settings.parsers import networks as _networks
from app.kit.settings.parsers import proxy_header as _proxy_header
from app.kit.settings.parsers import seconds as _seconds
from app.kit.settings.parsers import switch as _switch
from app.kit.settings.parsers import unknown_names as _unknown
from app.kit.settings.service_address import PORTS as _PORTS
from app.kit.settings.service_address import ServiceAddress as _Address
from app.kit.settings.service_address import has_port as _has_port

_LOCAL = "localhost:8000"
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?\Z")


def default_data_dir() -> Path:
    """Return the default data folder."""
    return _default_data_dir(os.environ)


@dataclass(frozen=True)
class Settings:
    """The settings of an installation."""

    data_dir: Path = field(default_factory=default_data_dir)
    """The folder of the SQLite database and of the generated secret. Empty: `var` in a checkout, otherwise `~/.local/share/gatehouse`."""
    database_url: str = ""
    """The database: `postgresql://…` with the runtime role, which owns no tables, or `sqlite:///FILE`. Empty: SQLite in the data folder.
    Several hosts: `@one:5432,two:5432/NAME?target_session_attrs=read-write`. Behind PgBouncer: `?prepare=off`. SQLite with
    `?synchronous=normal` writes faster, but a power failure can lose the last commits."""
    migrate_url: str = ""
    """The same database with the role that owns the tables, for `gatehouse migrate`. Empty: `GATEHOUSE_DATABASE_URL`."""
    backup_url: str = ""
    """The same database with the role that reads every tenant's rows (`deploy/postgres-roles.sql`), for `gatehouse backup`."""
    redis_url: str = ""
    """Redis, where several processes share their limits and caches. Empty: each process uses its own memory."""
    hub_domain: str = _LOCAL
    """The domain of the tenants' hosts: tenant `acme` is at `acme.id.example.com`. Empty: localhost, with the port of `serve --bind`."""
    api_host: str = ""
    """The host of the JSON API. Empty: `api.` and the hub domain."""
    api_url: str = ""
    """The internal address of the identity service, if the hub runs separately. Set it for both: the identity service serves
    the hub's operations on this host only. Empty: both run in one process."""
    scheme: str = ""
    """`https` or `http`. Empty: `http` on localhost, otherwise `https`."""
    secrets: tuple[bytes, ...] = field(default=(), repr=False)
    """The secret keys, one per line. The first one encrypts and signs; the others still decrypt and verify."""
    mail_url: str = "inbox:"
    """The mail server. Empty, or `inbox:`: emails aren't delivered; on localhost, `serve` shows them at `inbox.` and the hub domain."""
    mail_from: str = ""
    """The sender's address of emails. Empty: `no-reply@` and the hub domain."""
    sms_url: str = ""
    """The SMS gateway: `twilio://…`, an `https://` address, or `inbox:` for development. With `&voice=+15550101`, Twilio reads codes
    out in a call from that number, if an API call asks for it. Empty: the inbox if emails stay there, otherwise no text messages."""
    push_url: str = ""
    """The address of Amazon SNS, or of a compatible service or proxy. Empty: the endpoint of the tenant's region."""
    duo_url: str = ""
    """The address of Duo, or of a compatible service or proxy. Empty: the tenant's Duo API host."""
    bigcommerce_url: str = ""
    """The address of the BigCommerce API, or of a proxy. Empty: `https://api.bigcommerce.com`."""
    perfectmind_url: str = ""
    """The address of the PerfectMind API, or of a proxy. Empty: the host of the tenant's site."""
    metrics_bind: str = ""
    """Host and port where Prometheus metrics are served. Empty: not served."""
    telemetry_url: str = ""
    """Where OpenTelemetry traces are sent (OTLP over HTTP). Needs the extra `telemetry`. Empty: no traces."""
    captcha_urls: tuple[tuple[str, str], ...] = ()
    """Verification addresses of captcha providers, if you reach them through proxies. Empty: the providers' own addresses."""
    breaches_url: str = ""
    """A range API of breached passwords. It receives the first five digits of a password's SHA-1 digest. Empty: not asked."""
    breaches_file: str = ""
    """A sorted file of SHA-1 digests of breached passwords, or at least their first ten digits, if you don't use a range API."""
    locations_file: str = ""
    """A file that locates IP addresses, for risk checks: a city database in the MaxMind DB format (GeoLite2, DB-IP), or lines of
    `network,country,city`. Empty: locations are unknown."""
    theme_files: str = ""
    """A folder with one folder per tenant. A tenant's host serves the fonts and pictures in it at `/theme/FILE`. Empty: none are served."""
    dns_servers: tuple[str, ...] = ()
    """IP addresses of the DNS servers that verify domains, optionally with a port: `[IPv6]:port`. Empty: the machine's servers."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks of your proxies. Only their `X-Forwarded-*` headers are trusted."""
    client_certificate_header: str = ""
    """The header in which trusted proxies send a client's TLS certificate: `Client-Cert` (RFC 9440), `X-Forwarded-Client-Cert`
    (Envoy), or any other name for an escaped PEM (nginx: `$ssl_client_escaped_cert`). Empty: client certificates are ignored."""
    client_verification_header: str = ""
    """The header that is `SUCCESS` if the proxy verified the certificate's chain (nginx: `$ssl_client_verify`). Empty: no
    application can use `tls_client_auth`."""
    mtls_domain: str = ""
    """The domain whose hosts ask for client certificates, one host per tenant. The metadata lists it as `mtls_endpoint_aliases`."""
    provider_networks: tuple[str, ...] = ()
    """Private networks in which identity providers (`connections`) and targets of webhooks can be. Empty: none, except this machine if
    the hub domain is localhost. With `HTTPS_PROXY` set, the proxy must enforce this instead."""
    development: bool = False
    """`1` serves the gallery of pages and messages. For development only."""
    shows_cost: bool = False
    """`1` adds the header `X-Gatehouse-Cost` to responses, for `make bench`."""
    request_wait_seconds: float = 2.5
    """Seconds that a request can wait for the database and Redis in total, before it is answered 503. From 1 to 60."""
    drain_seconds: float = 0.0
    """Seconds after SIGTERM in which requests are still accepted and `/health/ready` answers 503, so that load balancers stop sending."""
    hashes_at_once: int = 2
    """The maximum number of passwords hashed at once by all processes of one `serve`. Others wait, in turn by tenant. Empty: one
    per whole CPU of the machine or of the container's quota."""
    sends_at_once: int = 4
    """The maximum number of messages that a worker sends at once, by kind: email, text message, push, others. Twice as many webhooks."""

    @cached_property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_dir / 'gatehouse.db'}"

    @cached_property
    def is_sqlite(self) -> bool:
        return self.database.startswith("sqlite")

    @cached_property
    def api_hostname(self) -> str:
        return self.api_host or f"api.{self.hub_domain}"

    @cached_property
    def inside_host(self) -> str:
        """The Host header that a separate hub sends; empty if no hub runs separately."""
        parts = urlsplit(self.api_url.lower())
        if not parts.hostname:
            return ""
        name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        is_default = parts.port in (None, {"http": 80, "https": 443}.get(parts.scheme))
        return name if is_default else f"{name}:{parts.port}"

    @cached_property
    def is_local(self) -> bool:
        name = self.hub_domain.partition(":")[0]
        return name == "localhost" or name.endswith(".localhost")

    @cached_property
    def public_scheme(self) -> str:
        return self.scheme or ("http" if self.is_local else "https")

    @property
    def reachable_networks(self) -> tuple[str, ...]:
        """Non-public networks that addresses configured by tenants may resolve to."""
        return self.provider_networks + (("127.0.0.0/8", "::1/128") if self.is_local else ())

    @property
    def secret(self) -> bytes:
        return self.secrets[0]

    @property
    def mail_sender(self) -> str:
        return self.mail_from or f"no-reply@{self.hub_domain.partition(':')[0]}"

    @property
    def sms_target(self) -> str:
        return self.sms_url or ("inbox:" if self.mail_url.startswith("inbox:") else "")

    @property
    def sms_speaks(self) -> bool:
        """Whether codes can be sent by voice call."""
        parts = urlsplit(self.sms_target)
        return parts.scheme == "inbox" or (parts.scheme == "twilio" and "voice" in parse_qs(parts.query))

    @property
    def has_inbox(self) -> bool:
        """Whether mail or SMS stays in the development inbox, which anyone can read."""
        return self.mail_url.startswith("inbox:") or self.sms_target.startswith("inbox:")

    def hub_url(self, tenant: str) -> str:
        """Return the address of a tenant's host."""
        return f"{self.public_scheme}://{tenant}.{self.hub_domain}"

    def mtls_url(self, tenant: str) -> str:
        """Return the address of a tenant's host that asks for client certificates; empty without one."""
        return f"{self.public_scheme}://{tenant}.{self.mtls_domain}" if self.mtls_domain else ""

    def without_mtls(self, host: str) -> str:
        """Return the tenant's own host for its mTLS host, and any other host unchanged."""
        name, _, domain = host.lower().partition(".")
        return f"{name}.{self.hub_domain}" if self.mtls_domain and domain == self.mtls_domain else host

    def custom_url(self, domain: str) -> str:
        """Return the address of a custom domain, which has the hub domain's port."""
        _, colon, port = self.hub_domain.partition(":")
        return f"{self.public_scheme}://{domain}{colon}{port}"

    def addresses(self, tenant: str, domains: Iterable[str]) -> tuple[str, ...]:
        """Return every address of a tenant with these custom domains, that of its own host first."""
        return (self.hub_url(tenant), *map(self.custom_url, domains))

    @property
    def base_url(self) -> str:
        """The address of the JSON interface."""
        return f"{self.public_scheme}://{self.api_hostname}"


def read(environ: Mapping[str, str] | None = None, data_dir: Path | None = None, hub_domain: str = _LOCAL) -> Settings:
    """Return the settings of the environment; `hub_domain` holds where it names none.

    Raises SettingsError for anything missing or contradictory. An embedded start generates the secret into the data folder once.
    """
    env = os.environ if environ is None else environ
    settings = Settings(
        data_dir=data_dir or Path(env.get("GATEHOUSE_DATA_DIR") or _default_data_dir(env)),
        database_url=_database("GATEHOUSE_DATABASE_URL", env.get("GATEHOUSE_DATABASE_URL", "")),
        migrate_url=_database("GATEHOUSE_MIGRATE_URL", env.get("GATEHOUSE_MIGRATE_URL", "")),
        backup_url=_database("GATEHOUSE_BACKUP_URL", env.get("GATEHOUSE_BACKUP_URL", "")),
        redis_url=env.get("GATEHOUSE_REDIS_URL", ""),
        hub_domain=(env.get("GATEHOUSE_HUB_DOMAIN") or hub_domain).lower(),
        api_host=env.get("GATEHOUSE_API_HOST", "").lower(),
        api_url=env.get("GATEHOUSE_API_URL", ""),
        scheme=env.get("GATEHOUSE_SCHEME", ""),
        mail_url=env.get("GATEHOUSE_MAIL_URL") or "inbox:",
        mail_from=env.get("GATEHOUSE_MAIL_FROM", ""),
        sms_url=env.get("GATEHOUSE_SMS_URL", ""),
        push_url=env.get("GATEHOUSE_PUSH_URL", ""),
        duo_url=env.get("GATEHOUSE_DUO_URL", ""),
        bigcommerce_url=env.get("GATEHOUSE_BIGCOMMERCE_URL", ""),
        perfectmind_url=env.get("GATEHOUSE_PERFECTMIND_URL", ""),
        metrics_bind=env.get("GATEHOUSE_METRICS_BIND", ""),
        telemetry_url=env.get("GATEHOUSE_TELEMETRY_URL", ""),
        captcha_urls=_captcha_urls(env.get("GATEHOUSE_CAPTCHA_URLS", "")),
        breaches_url=env.get("GATEHOUSE_BREACHES_URL", ""),
        breaches_file=env.get("GATEHOUSE_BREACHES_FILE", ""),
        locations_file=_file("GATEHOUSE_LOCATIONS_FILE", env.get("GATEHOUSE_LOCATIONS_FILE", "")),
        theme_files=_folder("GATEHOUSE_THEME_FILES", env.get("GATEHOUSE_THEME_FILES", "")),
        dns_servers=_dns_servers("GATEHOUSE_DNS_SERVERS", env.get("GATEHOUSE_DNS_SERVERS", "")),
        **_of_proxies(env),
        provider_networks=_networks("GATEHOUSE_PROVIDER_NETWORKS", env.get("GATEHOUSE_PROVIDER_NETWORKS", "")),
        development=_switch("GATEHOUSE_DEVELOPMENT", env.get("GATEHOUSE_DEVELOPMENT", "")),
        shows_cost=_switch("GATEHOUSE_COST", env.get("GATEHOUSE_COST", "")),
        request_wait_seconds=_seconds(env, "GATEHOUSE_REQUEST_WAIT_SECONDS", 2.5, least=1),
        drain_seconds=_seconds(env, "GATEHOUSE_DRAIN_SECONDS", 0.0, least=0),
        hashes_at_once=_count(env, "GATEHOUSE_HASHES_AT_ONCE", int(usable_cpus()) or 1),
        sends_at_once=_count(env, "GATEHOUSE_SENDS_AT_ONCE", 4),
    )
    _check(settings)
    return _with_secrets(settings, _secrets(env, settings))


def _of_proxies(env: Mapping[str, str]) -> dict[str, Any]:
    return {
        "trusted_proxies": _proxies(env.get("GATEHOUSE_TRUSTED_PROXIES", "")),
        "client_certificate_header": _proxy_header(
            env, "GATEHOUSE_CLIENT_CERTIFICATE_HEADER", but_for="x-forwarded-client-cert"
        ),
        "client_verification_header": _proxy_header(env, "GATEHOUSE_CLIENT_VERIFICATION_HEADER"),
        "mtls_domain": env.get("GATEHOUSE_MTLS_DOMAIN", "").lower(),
    }


def unknown_names() -> list[str]:
    """Return a sentence for each variable `GATEHOUSE_…` of the environment that no setting reads."""
    return _unknown(os.environ, Settings.__dataclass_fields__)


def of_child(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process: this one's without Gatehouse's settings, with these variables."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("GATEHOUSE_")}, **facts}


def share_metrics(folder: Path) -> None:
    """Set the folder where processes share metrics; the library reads it from the environment at import."""
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)


def _with_secrets(settings: Settings, keys: tuple[bytes, ...]) -> Settings:
    return replace(settings, secrets=keys)


def _check(settings: Settings) -> None:
    if settings.scheme not in ("", "http", "https"):
        raise SettingsError(f"GATEHOUSE_SCHEME must be http or https, not {settings.scheme!r}.")
    if not settings.is_local and settings.scheme == "http":
        raise SettingsError("GATEHOUSE_SCHEME=http only works on localhost. Use https.")
    _check_certificates(settings)
    if settings.migrate_url and settings.is_sqlite:
        raise SettingsError(
            "GATEHOUSE_MIGRATE_URL is for PostgreSQL, but GATEHOUSE_DATABASE_URL is SQLite. Remove one of them."
        )
    for name, text in (("GATEHOUSE_HUB_DOMAIN", settings.hub_domain), ("GATEHOUSE_API_HOST", settings.api_hostname)):
        if not _HOST.match(text) or not _has_port(f"//{text}"):
            raise SettingsError(f"{name} must be a host name such as id.example.com, without a scheme or path.")
    if settings.api_hostname == settings.hub_domain:
        raise SettingsError("GATEHOUSE_API_HOST must differ from GATEHOUSE_HUB_DOMAIN.")
    if settings.metrics_bind and not re.match(r"[^/]*:[0-9]+\Z", settings.metrics_bind):
        raise SettingsError(f"GATEHOUSE_METRICS_BIND must be host:port, not {settings.metrics_bind!r}.")
    if settings.metrics_bind and int(settings.metrics_bind.rpartition(":")[2]) not in _PORTS:
        raise SettingsError(f"GATEHOUSE_METRICS_BIND must have a port from 1 to 65535, not {settings.metrics_bind!r}.")
    for address in _addresses(settings):
        address.check()
    _check_inside(settings)


def _check_certificates(settings: Settings) -> None:
    """Refuse settings with which client certificates would not be verified, or never arrive."""
    if settings.client_certificate_header and not settings.trusted_proxies:
        raise SettingsError(
            "GATEHOUSE_CLIENT_CERTIFICATE_HEADER needs GATEHOUSE_TRUSTED_PROXIES: only they may send it."
        )
    if not settings.client_certificate_header and (settings.client_verification_header or settings.mtls_domain):
        raise SettingsError(
            "GATEHOUSE_CLIENT_VERIFICATION_HEADER and GATEHOUSE_MTLS_DOMAIN need GATEHOUSE_CLIENT_CERTIFICATE_HEADER."
        )
    if settings.mtls_domain and (not _HOST.match(settings.mtls_domain) or settings.mtls_domain == settings.hub_domain):
        raise SettingsError("GATEHOUSE_MTLS_DOMAIN must be a domain of its own, such as mtls.id.example.com.")


def _check_inside(settings: Settings) -> None:
    """Refuse to serve the hub's operations on a public host."""
    inside = urlsplit(settings.api_url.lower()).hostname or ""
    domain = settings.hub_domain.partition(":")[0]
    if inside and (inside == settings.api_hostname.partition(":")[0] or inside.endswith(f".{domain}")):
        raise SettingsError(
            "GATEHOUSE_API_URL names a public host. Set it to an internal address of the identity service, such as http://identity:8000."
        )


def _addresses(settings: Settings) -> tuple[_Address, ...]:
    web = ("http", "https")
    sms = "inbox:, twilio://AccountSid:AuthToken@api.twilio.com?from=+15550100 or https://:token@host/path"
    servers = {
        "GATEHOUSE_PUSH_URL": (settings.push_url, "http://127.0.0.1:4566"),
        "GATEHOUSE_DUO_URL": (settings.duo_url, "http://127.0.0.1:4567"),
        "GATEHOUSE_BIGCOMMERCE_URL": (settings.bigcommerce_url, "http://127.0.0.1:4568"),
        "GATEHOUSE_PERFECTMIND_URL": (settings.perfectmind_url, "http://127.0.0.1:4569"),
        "GATEHOUSE_API_URL": (settings.api_url, "http://identity:8000"),
        "GATEHOUSE_TELEMETRY_URL": (settings.telemetry_url, "http://collector:4318"),
    }
    mail, redis = ("inbox", "smtp", "smtps"), ("redis", "rediss", "unix")
    return (
        _Address("GATEHOUSE_MAIL_URL", settings.mail_url, mail, "inbox: or smtp://user:password@host:port"),
        _Address("GATEHOUSE_SMS_URL", settings.sms_url, ("inbox", "twilio", *web), sms),
        _Address("GATEHOUSE_REDIS_URL", settings.redis_url, redis, "redis://host:6379/0, rediss:// or unix://"),
        *(_Address(name, url, web, f"a web address such as {like}") for name, (url, like) in servers.items()),
    )


def _database(name: str, url: str) -> str:
    try:
        return normalized(url)
    except ValueError as problem:
        raise SettingsError(f"{name} {problem}.") from None


def _proxies(text: str) -> tuple[str, ...]:
    return _networks("GATEHOUSE_TRUSTED_PROXIES", text, but_for="unix")  # the other end of a socket file has no address


def _secrets(env: Mapping[str, str], settings: Settings) -> tuple[bytes, ...]:
    text = env.get("GATEHOUSE_SECRET_KEY", "")
    named = env.get("GATEHOUSE_SECRET_KEY_FILE", "")
    if text and named:
        raise SettingsError("Set GATEHOUSE_SECRET_KEY or GATEHOUSE_SECRET_KEY_FILE, not both.")
    if named:
        try:
            text = Path(named).read_text()
        except OSError as problem:
            raise SettingsError(f"Couldn't read GATEHOUSE_SECRET_KEY_FILE {named!r}: {problem.strerror}.") from None
        except UnicodeDecodeError:
            raise SettingsError("GATEHOUSE_SECRET_KEY_FILE must be a text file with one key per line.") from None
    if not text and settings.is_sqlite and settings.is_local:
        text = _generated(settings.data_dir / "secret")
    keys = tuple(line.strip().encode() for line in text.splitlines() if line.strip())
    if not keys:
        raise SettingsError("Set GATEHOUSE_SECRET_KEY to at least 32 random characters.")
    if any(len(key) < 32 for key in keys):
        raise SettingsError("GATEHOUSE_SECRET_KEY is too short. Use at least 32 random characters.")
    return keys


def _generated(path: Path) -> str:
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_urlsafe(48) + "\n")
        return path.read_text()
    except OSError as problem:
        raise SettingsError(f"Couldn't read or create the secret key in {path}: {problem.strerror}.") from None
