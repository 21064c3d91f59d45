"""OpenTelemetry traces, if configured; the library is the extra `telemetry`."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.observability.logs import redacted


class TelemetryMissing(Exception):
    """Traces are configured, but the extra is not installed."""


def refuse_missing() -> None:
    """Raise TelemetryMissing if the extra is not installed."""
    _libraries()


class Traced:
    """Creates a server span for each request, without the query."""

    def __init__(self, app: WSGIApplication, url: str) -> None:
        self._app = app
        self._tracer, self._kind, self._propagate = _tracer(url)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        carrier = {"traceparent": environ.get("HTTP_TRACEPARENT", "")}
        facts = {"http.request.method": environ["REQUEST_METHOD"], "url.path": redacted(environ.get("PATH_INFO", ""))}
        facts |= {
            "server.address": environ.get("HTTP_HOST", "").partition(":")[0],
            "url.scheme": environ["wsgi.url_scheme"],
        }
        how = {"context": self._propagate(carrier), "kind": self._kind, "attributes": facts}
        with self._tracer.start_as_current_span(environ["REQUEST_METHOD"], **how) as span:

            def start(
                status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
            ) -> Callable[[bytes], object]:
                span.set_attribute("http.response.status_code", int(status[:3]))
                return start_response(status, headers, exc_info)

            return self._app(environ, start)


def _libraries() -> tuple[Any, ...]:
    names = (
        "opentelemetry.trace",
        "opentelemetry.propagate",
        "opentelemetry.sdk.trace",
        "opentelemetry.sdk.trace.export",
        "opentelemetry.sdk.resources",
        "opentelemetry.exporter.otlp.proto.http.trace_exporter",
    )
    try:
        return tuple(importlib.import_module(name) for name in names)
    except ImportError as problem:
        raise TelemetryMissing(
            f"GATEHOUSE_TELEMETRY_URL is set, but {problem.name} isn't installed. "
            "Run 'pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http'."
        ) from None


def _tracer(url: str) -> tuple[Any, Any, Any]:
    api, propagate, sdk, export, resources, otlp = _libraries()
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": "gatehouse"}))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter(endpoint=url)))
    return provider.get_tracer("gatehouse"), api.SpanKind.SERVER, propagate.extract
