"""The applications that a process serves: the hub, the identity service, or both. The only file that imports both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app import hub, identity
from app.contract.auth import Host
from app.hub import queue_slots
from app.hub.rendering import cached_pages
from app.hub.web.application import HubFlask
from app.identity.assembly.admission.tenant_resolution import host_of
from app.identity.assembly.cached_operations import CachedOperations
from app.identity.assembly.hash_queue import HashQueueRouter
from app.identity.assembly.on_demand_tls import OnDemandTls
from app.kit.limits.queue_slot import IsAnsweredFromCache, QueueSlot, QueueSlotOf, WsgiApp
from app.kit.operations.server import OperationServer
from app.kit.web.proxies import ForwardedHeaders, hostname_of, protect
from app.settings import Settings

_SHORT: Final = frozenset({"HEAD", "OPTIONS"})


def create_hub(settings: Settings) -> WsgiApp:
    """Return the hub alone; it calls the identity service at `settings.api_url`."""
    pages = hub.create_app(settings, watches_tenants=True)
    slot, is_cached = partial(queue_slots.queue_slot, pages.shared), partial(cached_pages.is_answered_from_cache, pages)
    return _served(settings, pages, slot, is_cached)


def create_identity(settings: Settings) -> WsgiApp:
    """Return the identity service alone."""
    services = identity.create_services(settings, defers_imports=True)
    server = identity.create_service(services, defers_imports=True)
    wsgi = OnDemandTls(identity.create_app(server), settings, services.directory)
    slot = HashQueueRouter(services, server).queue_slot
    is_cached = CachedOperations(services, server).is_answered_from_cache
    return _served(settings, wsgi, slot, is_cached, services.hashing.recent_seconds, server.load)


def create_both(settings: Settings) -> WsgiApp:
    """Return both services in one process; the hub reaches the identity service without a socket."""
    services = identity.create_services(settings, defers_imports=True)
    server = identity.create_service(services, defers_imports=True)
    service, documents = identity.create_app(server), CachedOperations(services, server)
    pages = hub.create_app(settings, None, services.clock, server, watches_tenants=True)
    of_service, of_pages = HashQueueRouter(services, server).queue_slot, partial(queue_slots.queue_slot, pages.shared)

    def queue_slot(environ: Mapping[str, Any]) -> QueueSlot | None:
        return (of_service if wsgi.is_for_service(environ) else of_pages)(environ)

    wsgi = Dispatcher(settings, server, service, pages)

    def is_answered_from_cache(environ: Mapping[str, Any]) -> bool:
        return documents.is_answered_from_cache(environ) or cached_pages.is_answered_from_cache(pages, environ)

    app = OnDemandTls(wsgi, settings, services.directory)
    return _served(settings, app, queue_slot, is_answered_from_cache, services.hashing.recent_seconds, server.load)


class Dispatcher:
    """Routes each request to the hub or to the identity service, by host and path of the declared operations."""

    def __init__(self, settings: Settings, server: OperationServer, service: WSGIApplication, pages: HubFlask) -> None:
        self._settings = settings
        self._server = server
        self._service = service
        self._pages = pages

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        service = self._service if self.is_for_service(environ) else self._pages
        return service(environ, start_response)

    def is_for_service(self, environ: Mapping[str, Any]) -> bool:
        """Return whether the request is for the identity service."""
        host = host_of(self._settings, environ.get("HTTP_HOST", ""))
        # only a separate hub may use this host; the hub of this process calls without a network
        if host is Host.INSIDE:
            host = Host.TENANT
        if host is Host.API:
            return True
        return self._server.owns(host, environ["PATH_INFO"])


def _served(
    settings: Settings,
    app: WSGIApplication,
    queue_slot: QueueSlotOf,
    is_answered_from_cache: IsAnsweredFromCache,
    hash_seconds: Callable[[], float] = float,
    load: Callable[[], object] = lambda: None,
) -> WsgiApp:
    """Return the application wrapped in its middleware; the questions see the request as the application does."""
    wsgi = _protected(app, settings)

    def slot(environ: Mapping[str, Any]) -> QueueSlot | None:
        return None if environ["REQUEST_METHOD"] in _SHORT else queue_slot(wsgi.as_seen(environ))

    def at_once(environ: Mapping[str, Any]) -> bool:
        return is_answered_from_cache(wsgi.as_seen(environ))

    return WsgiApp(wsgi, slot, hash_seconds, at_once, load)


def _protected(app: WSGIApplication, settings: Settings) -> ForwardedHeaders:
    api = hostname_of(settings.api_hostname)
    inside = urlsplit(settings.api_url)
    return protect(
        app,
        scheme="https" if settings.public_scheme == "https" else "http",
        domain=settings.hub_domain,
        trusted_proxies=settings.trusted_proxies,
        certificate_header=settings.client_certificate_header,
        check_header=settings.client_verification_header,
        is_served=lambda host: hostname_of(host) == api,
        plain_hosts={inside.hostname} if inside.scheme == "http" and inside.hostname else frozenset(),
    )
