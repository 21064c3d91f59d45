"""gatehouse routes, openapi: the addresses and the OpenAPI document of the declared operations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from app.commands.errors import settings as read_settings

if TYPE_CHECKING:
    from app.kit.operations.operation import Catalogue


@click.command
@click.option(
    "--proxy",
    type=click.Choice(["caddy", "nginx"]),
    is_flag=False,
    flag_value="caddy",
    help="Print a reverse proxy configuration instead; Caddy by default.",
)
@click.option(
    "--hub", metavar="HOST:PORT", default="hub:8000", show_default=True, help="Address of the hub, for --proxy."
)
@click.option(
    "--identity",
    metavar="HOST:PORT",
    default="identity:8000",
    show_default=True,
    help="Address of the identity service, for --proxy.",
)
def routes(proxy: str | None, hub: str, identity: str) -> None:
    """List every endpoint with its host, method, path, operation, required authentication and scope.

    With --proxy, print a proxy configuration that routes each request to the hub or the identity service.
    """
    catalogue = _catalogue()
    if proxy is None:
        for line in table(catalogue):
            click.echo(line)
        return
    from app.contract.auth import Host

    read = read_settings()
    patterns = sorted({pattern(path) for item in catalogue.on(Host.TENANT) for _, path in item.addresses()})
    rules = {"caddy": caddy, "nginx": nginx}[proxy]
    click.echo(rules(read.hub_domain.partition(":")[0], read.api_hostname.partition(":")[0], patterns, hub, identity))


def table(catalogue: Catalogue) -> Iterator[str]:
    """Yield a line for each address."""
    for operation in catalogue:
        for method, path in operation.addresses():
            about = f"{operation.host.value:7} {method:7} {path:64} {operation.name:44} {operation.admission.auth.in_words()}"
            scope = f" ({operation.admission.scope})" if operation.admission.scope else ""
            yield about + scope + (f"  ?{'|'.join(operation.when)}" if operation.when else "")


def pattern(path: str) -> str:
    """Return a path as a regular expression; fixed segments ignore letter case, a parameter is one segment."""
    return re.sub(r"\{\w+\}", "[^/]+", path.rstrip("/").replace(".", r"\."))


def caddy(domain: str, api: str, patterns: list[str], hub: str, identity: str) -> str:
    """Return a Caddyfile. The hub's own calls bypass the proxy."""
    inside = "\t@inside path /hub /hub/*\n\trespond @inside 404\n"
    return (
        f"{api} {{\n{inside}\treverse_proxy {identity}\n}}\n\n"
        f"*.{domain} {{\n\t@identity path_regexp (?i)^({'|'.join(patterns)})/?$\n"
        f"\thandle @identity {{\n\t\treverse_proxy {identity}\n\t}}\n\thandle {{\n\t\treverse_proxy {hub}\n\t}}\n}}"
    )


def nginx(domain: str, api: str, patterns: list[str], hub: str, identity: str) -> str:
    """Return two server blocks for nginx; TLS and limits are the operator's.

    The hub's own calls bypass the proxy: the first block is also the default server.
    """
    forward = (
        "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr; "
        "proxy_set_header X-Forwarded-Proto $scheme; proxy_set_header Forwarded '';"
    )
    inside = "location ~* ^/hub(/|$) { return 404; }"
    own = f"location ~* ^({'|'.join(patterns)})/?$ {{ proxy_pass http://{identity}; {forward} }}"
    service = f"location / {{ proxy_pass http://{identity}; {forward} }}"
    pages = f"location / {{ proxy_pass http://{hub}; {forward} }}"
    return (
        f"server {{\n    server_name {api};\n    {inside}\n    {service}\n}}\n"
        f"server {{\n    server_name *.{domain};\n    {own}\n    {pages}\n}}"
    )


@click.command
def openapi() -> None:
    """Print the OpenAPI 3.1 document of the API, as JSON."""
    from app.contract.published.openapi import openapi_document

    settings = read_settings()
    document = openapi_document(settings.base_url, settings.hub_url("{tenant}"))
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def _catalogue() -> Catalogue:
    from app.contract.catalogue import load_catalogue

    return load_catalogue()
