"""Powers of OAuth clients: the rights of a program that can authenticate as the client (decision 0315)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from app.contract.applications.settings import ApplicationSettings
from app.contract.auth import READS_TOKENS
from app.contract.catalogue import CATALOGUE
from app.identity.directory.tenants import tenant_writes
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.protocols.oauth.tokens import machine_tokens

NEED_ALL: Final = (
    "assertion_issuers", "interface_access", "may_act", "exchange_audiences", "resources", "resource_server",
    "id_token_audiences", "token_hook",
)  # fmt: skip
"""Settings that need ALL when they are not at their default: tokens of people for this service, or for other audiences."""


def of_client(context: Context, settings: ApplicationSettings, client_id: str) -> Iterator[Power]:
    """Yield the powers of a client.

    A scope of the management operations counts wherever the client has it. Other audiences of `audience_scopes` need ALL,
    also those that differ from a management audience in letter case, host or a slash.
    """
    management = machine_tokens.audiences(context.services)
    for audience, scopes in settings.audience_scopes.items():
        if audience in management:
            yield from (Power(scope, "audience_scopes") for scope in scopes)
        else:
            yield Power(ALL, "audience_scopes of another audience")
    known = {operation.admission.scope for operation in CATALOGUE} | {ALL, READS_TOKENS}
    for name, scopes in (("scope", tuple(settings.scope.split())), ("optional_scopes", settings.optional_scopes)):
        yield from (Power(scope, name) for scope in known.intersection(scopes))
    for name in NEED_ALL:
        if getattr(settings, name) not in ((), False, "none", None):
            yield Power(ALL, name)
    if client_id and tenant_writes.is_named(context.work, client_id):
        yield Power(ALL, "a client that other ones name")


def has_any(context: Context, settings: ApplicationSettings, client_id: str) -> bool:
    """Return whether a client has a power."""
    return next(of_client(context, settings, client_id), None) is not None
