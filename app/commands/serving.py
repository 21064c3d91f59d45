"""gatehouse serve, worker."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING
from wsgiref.types import WSGIApplication

import click

from app.commands import server_metrics
from app.commands.errors import CommandError, as_command_errors
from app.commands.errors import settings as read_settings
from app.commands.listen_address import (
    bind_error,
    has_dev_inbox,
    hub_domain_at,
    is_loopback,
    refuse_other_port,
    refuse_taken,
    with_port,
)
from app.commands.server_metrics import ServerMetrics
from app.contract.images.uploads import BODY_BYTES
from app.kit.clock import SystemClock
from app.kit.gc_pause import gc_paused
from app.kit.limits.queue_slot import WsgiApp
from app.kit.limits.time_budget import TimeBudget
from app.kit.observability import logs
from app.kit.observability.health import PATHS, Check, Health
from app.kit.observability.instrumentation import Instrumented, RequestObserver
from app.kit.serving import HashLimits, Job, ServerLimits
from app.kit.serving import serve as serve_http
from app.kit.web.proxies import Proxies
from app.settings import Settings, SettingsError

if TYPE_CHECKING:
    from app.identity.platform.store.database import Database
    from app.reference import Trial

ROLES = ("both", "hub", "identity")
"""What a process serves."""
_SERVED = {"both": "Gatehouse", "hub": "the hub", "identity": "the identity service"}


@click.command
@click.option(
    "--bind",
    metavar="ADDRESS",
    default="127.0.0.1:8000",
    show_default=True,
    help="Address to listen on: HOST:PORT, [IPV6]:PORT or unix:/PATH.",
)
@click.option(
    "--only", type=click.Choice(ROLES[1:]), help="Serve one service only. A separate hub needs GATEHOUSE_API_URL."
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 256),
    help="Number of processes. More than one needs GATEHOUSE_REDIS_URL.",
)
def serve(bind: str, only: str | None, workers: int) -> None:
    """Serve the hub, the identity service, or both, until Ctrl-C or SIGTERM."""
    bind = with_port(bind)
    settings = read_settings(hub_domain_at(bind))
    role = only or "both"
    check_options(settings, bind, role, workers)
    refuse_taken(bind)
    settings = replace(settings, hashes_at_once=max(1, settings.hashes_at_once // workers))
    logs.configure()
    with as_command_errors():
        if role == "hub":
            warn_of_identity(settings)
        else:
            prepare_database(settings)
            prepare_redis(settings)
        jobs = [outbox_job(settings)] if role != "hub" and settings.is_sqlite else []
        metrics = server_metrics.start(settings, role, workers)
        try:
            status = run(settings, role, bind, workers, jobs, metrics)
        finally:
            metrics.close()
        sys.exit(status)


def run(settings: Settings, role: str, bind: str, workers: int, jobs: list[Job], metrics: ServerMetrics) -> int:
    """Serve until the server ends; return its exit status."""

    has_inbox = role == "both" and has_dev_inbox(settings, bind)

    def announce(address: str) -> None:
        click.echo(f"Serving {_SERVED[role]} on {address}; tenants at {settings.hub_url('NAME')}", err=True)
        if has_inbox:
            click.echo(f"Emails and text messages aren't delivered. Read them at {settings.hub_url('inbox')}", err=True)

    if workers > 1:
        preload(role)
    try:
        return serve_http(
            lambda: application(settings, role, metrics.observers, has_inbox=has_inbox),
            bind=bind,
            workers=workers,
            background=[*jobs, *metrics.jobs],
            on_refusal=metrics.on_refusal,
            on_worker_exit=metrics.on_worker_exit,
            reserved_paths=PATHS,
            hash_limits=hash_limits(settings, role),
            limits=ServerLimits(lame_duck_seconds=settings.drain_seconds, body_bytes_under=BODY_BYTES),
            on_ready=announce,
        )
    except (ValueError, OSError) as problem:
        raise bind_error(bind, problem) from None


def preload(role: str) -> None:
    """Import the workers' modules before forking, so that workers share their memory."""
    with gc_paused():
        import_module("app.factories")
        if role != "hub":
            from app.identity.assembly.server import load_handlers

            load_handlers()
        if role != "identity":
            from app.hub.assembly import all_views

            all_views()


def application(
    settings: Settings,
    role: str,
    observers: tuple[RequestObserver, ...] = (),
    *,
    has_inbox: bool = False,
    trial: Trial | None = None,
) -> WsgiApp:
    """Return the application: hub, identity service or both, with health checks and instrumentation.

    Args:
        trial: values for the API reference's "Try it".
    """
    from app import factories

    served: WsgiApp = getattr(factories, f"create_{role}")(settings)
    wsgi: WSGIApplication = served.wsgi
    if role != "hub":
        from app.reference import NO_TRIAL, Reference

        wsgi = Reference(wsgi, settings, trial or NO_TRIAL)
    if has_inbox:
        from app.demo.development_page import StartPage
        from app.demo.inbox import with_inbox

        wsgi = with_inbox(StartPage(wsgi, settings), settings)
    wsgi = TimeBudget(wsgi, settings.request_wait_seconds)
    has_loaded = threading.Event()

    def load() -> None:
        served.load()
        has_loaded.set()

    health = Health(wsgi, health_checks(settings, role), has_loaded.is_set, disk_state(settings, role))
    is_cached = Health.beside(served.is_answered_from_cache)
    return replace(served, wsgi=instrumented(health, settings, observers), is_answered_from_cache=is_cached, load=load)


def hash_limits(settings: Settings, role: str) -> HashLimits:
    """Return the limit of concurrent requests that hash: two per hash, since each spends part of its time on other work.

    A separate hub computes no hashes; its requests wait for the identity service, which has its own queue.
    """
    threads = max(HashLimits.threads, 4 * settings.hashes_at_once)
    return HashLimits(running=threads if role == "hub" else 2 * settings.hashes_at_once, threads=threads)


def instrumented(
    wsgi: WSGIApplication, settings: Settings, observers: tuple[RequestObserver, ...] = ()
) -> WSGIApplication:
    """Wrap an application with request logs, metrics and traces."""
    if settings.telemetry_url:
        from app.kit.observability.tracing import Traced

        wsgi = Traced(wsgi, settings.telemetry_url)
    return Instrumented(wsgi, observers, Proxies.of(settings.trusted_proxies))


def health_checks(settings: Settings, role: str) -> dict[str, Check]:
    """Return the readiness checks of this process."""
    if role == "hub":
        from app.hub.client.startup_check import check_identity

        return {"identity": lambda: check_identity(settings)}
    from app.identity.assembly.health import checks

    return checks(settings)


def disk_state(settings: Settings, role: str) -> Callable[[], str]:
    """Return the function that reports a full database disk; for a separate hub, one that reports none."""
    if role == "hub":
        return str
    from app.identity.assembly.health import disk

    return disk(settings)


def check_options(settings: Settings, bind: str, role: str, workers: int) -> None:
    """Raise CommandError for options and settings that contradict each other."""
    is_here = bind.startswith("unix:") or is_loopback(bind)
    if settings.has_inbox and not is_here and role != "hub":
        raise CommandError(
            f"--bind {bind} isn't a loopback address, but GATEHOUSE_MAIL_URL or GATEHOUSE_SMS_URL is inbox:, which anyone can read. "
            "Set real senders, or bind 127.0.0.1."
        )
    if role == "both":
        refuse_other_port(settings, bind)
    if settings.telemetry_url:
        from app.kit.observability.tracing import TelemetryMissing, refuse_missing

        try:
            refuse_missing()
        except TelemetryMissing as problem:
            raise CommandError(str(problem)) from None
    if role == "hub" and not settings.api_url:
        raise CommandError("--only hub needs GATEHOUSE_API_URL, the address of the identity service.")
    if role == "identity" and not settings.api_url:
        click.echo("Warning: GATEHOUSE_API_URL isn't set, so requests from a separate hub are refused.", err=True)
    if workers > 1 and role != "hub" and not settings.redis_url:
        raise CommandError("--workers above 1 needs GATEHOUSE_REDIS_URL, where the processes share their limits.")


def prepare_database(settings: Settings) -> None:
    """Check and prepare the database before workers are forked; no connection stays open. Raises SettingsError."""
    with gc_paused():
        from app.identity.directory.tenants.keys import tenant_secrets
        from app.identity.platform.encryption import Encryption
        from app.identity.platform.outbox import claims
        from app.identity.platform.store import migrate
        from app.identity.platform.store.database import Database

    database = Database(settings.database, pool_size=1)
    try:
        migrate.ready(settings, database)
        encryption = Encryption(settings.secrets)
        tenant_secrets.check_key(database, encryption)
        claims.reencrypt(database, encryption, is_clear_only=True)  # written by an earlier version
        claims.retry_unknown_key(database, SystemClock().now())
        _refuse_api_host(settings, database)
    finally:
        database.dispose()


def prepare_redis(settings: Settings) -> None:
    """Record since when Redis stores nonces, and warn if Redis doesn't respond; the start continues, because Redis may come up later."""
    if not settings.redis_url:
        return
    from app.kit.limits.nonces import Nonces
    from app.kit.limits.shared_store import SharedStore, SharedStoreUnavailable

    shared = SharedStore(settings.redis_url)
    try:
        Nonces.begin(shared, int(SystemClock().now().timestamp()))
    except SharedStoreUnavailable as problem:
        sentence = f"Redis (GATEHOUSE_REDIS_URL) isn't responding: {str(problem).rstrip('.')}."
        click.echo(f"Warning: {sentence} Until it does, pages and operations answer 503.", err=True)
    finally:
        shared.redis.close()


def warn_of_identity(settings: Settings) -> None:
    """Warn if no identity service accepts this hub's calls; the start continues, because the service may come up later."""
    from app.hub.client.startup_check import IdentityUnusable, check_identity

    try:
        check_identity(settings)
    except IdentityUnusable as problem:
        click.echo(f"Warning: {problem} Until that changes, pages answer 503.", err=True)


def _refuse_api_host(settings: Settings, database: Database) -> None:
    """Raise SettingsError if the API host is the host of a tenant."""
    from app.identity.directory.tenants import tenant_writes
    from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
    from app.identity.platform.store.unit_of_work import UnitOfWork

    name, _, domain = settings.api_hostname.partition(".")
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        if domain == settings.hub_domain and tenant_writes.by_name(work, name) is not None:
            raise SettingsError(f"GATEHOUSE_API_HOST is also the host of tenant {name!r}. Change one of them.")
    finally:
        work.rollback()


def outbox_job(settings: Settings) -> Job:
    """Return the outbox worker as a background job; it opens its database in the process where it runs."""

    def deliver(stop: threading.Event) -> None:
        from app.identity.assembly.worker import Worker
        from app.identity.platform.store.database import Database

        database = Database(settings.database, pool_size=2)
        try:
            Worker(settings, database).run(stop)
        finally:
            database.dispose()

    return deliver


@click.command
def worker() -> None:
    """Deliver emails and text messages, and clean up, until Ctrl-C or SIGTERM.

    Run as many as you need. On SQLite you don't need one: `serve` does this work.
    """
    settings = read_settings()
    logs.configure()
    with as_command_errors():
        prepare_database(settings)
        stop = threading.Event()
        stop_on_signals(stop.set)
        logging.getLogger("gatehouse.worker").info("worker.ready")
        outbox_job(settings)(stop)


def stop_on_signals(stop: Callable[[], object]) -> None:
    """Call `stop` at SIGTERM and SIGINT."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())
