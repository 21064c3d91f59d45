"""The usual requests of the operations that programs ask most, each in one straight function (decisions/0297).

A token request is only admitted and read here; its grant and its refusals are those of `Server.run` (decisions/0301).
Each function does what `Server.run`, `entry/lifecycle.py` and `entry/admission.py` do for any operation, and nothing that
such a request does not need. It returns None for any other request, a refused one included, before it has changed or
counted anything: then `Server.run` answers. Both ask the same functions about clients, tokens, accounts and claims, and
`tests/support/straight_answers.py` compares their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

from app.contract import oauth_metadata, oauth_tokens
from app.contract.oauth_tokens import INTROSPECTION_JWT, IntrospectionRequest, IntrospectionResponse, TokenRequest
from app.identity.credentials.tokens import service as tokens
from app.identity.credentials.tokens import store as token_store
from app.identity.entry import callers
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox
from app.identity.platform.services import Services
from app.identity.platform.store.database import StoreUnavailable
from app.identity.platform.store.unit import Cost, UnitOfWork
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import claims, introspection, issuing, rate_limits, refusals
from app.identity.protocols.oauth.client_authentication import credentials, none
from app.identity.protocols.oauth.client_authentication.registry import METHODS
from app.kit import input_filter, randomness
from app.kit.errors import OAuthError
from app.kit.lifecycle import StraightAdmission, StraightAnswer
from app.kit.logs import bind
from app.kit.operation import AnyOperation
from app.kit.reading import RawRequest
from app.kit.wire import Document

_USUAL_FACTS: Final = frozenset(
    {
        *issuing.FACTS_OF_REQUEST,
        "issuer",
        "gty",
        "aud",
        "granted",
        tokens.SID,
        tokens.ENDS_AT,
        token_store.STEPPED_UP_AT,
    }
)
"""Facts of an access token that say nothing about who may present it."""
_OF_CLIENTS: Final = frozenset({"client_id", "client_secret"})
_OF_INTROSPECTION: Final = _OF_CLIENTS | {"token", "token_type_hint"}
_OF_TOKENS: Final = _OF_CLIENTS | {"grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"}
_LONGEST_ID: Final = 128


def read_userinfo(services: Services, raw: RawRequest) -> tuple[Context, Document] | None:
    """The claims of the account behind a bearer token of an application (OpenID Connect Core section 5.3)."""
    token = raw.bearer()
    if raw.method != "GET" or token is None or raw.query_text or raw.body or raw.too_large:
        return None
    context = _context(services, raw, oauth_metadata.userinfo)
    if context is None:
        return None
    try:
        holder = token_store.access_with_account(context, randomness.digest(token))
        if holder is None or not holder.uid or holder.expires_at <= context.now:
            return None
        if not _USUAL_FACTS.issuperset(holder.facts):  # bound to its sender or to an organization, of an actor
            return None
        context.holder = holder
        return context, claims.userinfo(context, None)
    except (OAuthError, StoreUnavailable):
        return None
    finally:
        context.work.rollback()


def introspect(services: Services, raw: RawRequest) -> tuple[Context, IntrospectionResponse] | None:
    """What a token is, for a client that sends its secret (RFC 7662)."""
    form = _form(raw, _OF_INTROSPECTION)
    context = _context(services, raw, oauth_tokens.introspect) if form is not None and "token" in form else None
    if form is None or context is None or INTROSPECTION_JWT in raw.headers.get("accept", "").lower():
        return None
    try:
        client = _client(context, form)
        if client is None or client.settings.is_public:
            return None
        request = IntrospectionRequest.model_validate(form)
        response = introspection.introspect(context, client, request)
        rate_limits.count_client_request(context, client)
    except (OAuthError, StoreUnavailable):
        return None
    finally:
        context.work.rollback()
    bind(client_id=refusals.shown(client.client_id))
    return context, response


def admit_token_request(services: Services, raw: RawRequest) -> tuple[Context, TokenRequest] | None:
    """A token request of a client that sends its secret, or of a public one (RFC 6749 section 3.2)."""
    form = _form(raw, _OF_TOKENS)
    context = _context(services, raw, oauth_tokens.token) if form is not None and "grant_type" in form else None
    if form is None or context is None:
        return None
    with suppress(OAuthError, StoreUnavailable):
        context.client = _client(context, form)
    if context.client is None:
        context.work.rollback()
        return None
    bind(client_id=refusals.shown(context.client.client_id))
    return context, TokenRequest.model_validate(form)


_ANSWERS: Final[Mapping[str, Callable[[Services, RawRequest], tuple[Context, Any] | None]]] = {
    oauth_metadata.userinfo.name: read_userinfo,
    oauth_tokens.introspect.name: introspect,
}


def answers(services: Services) -> Mapping[str, StraightAnswer]:
    """Return the straight functions by the name of their operation."""
    return {name: partial(answer, services) for name, answer in _ANSWERS.items()}


def admissions(services: Services) -> Mapping[str, StraightAdmission]:
    """Return the functions that only admit and read, by the name of their operation."""
    return {oauth_tokens.token.name: partial(admit_token_request, services)}


def _context(services: Services, raw: RawRequest, operation: AnyOperation) -> Context | None:
    """Return the context of a request at a tenant-wide address without an API key; None if the tenant is not in memory."""
    tenant = services.directory.fresh(services.settings.without_mtls(raw.host))
    if tenant is None or raw.parameters or callers.api_key(raw) is not None:
        return None
    cost = Cost()
    work = UnitOfWork(services.database, tenant.tenant_id, cost)
    audit = AuditLog(services.clock, raw.address, raw.request_id)
    outbox = Outbox(work, services.clock, services.encryption)
    schemes = operation.admission.auth.schemes()
    return Context(services, tenant, work, audit, outbox, raw, schemes, cost=cost, operation=operation)


def _form(raw: RawRequest, usual: frozenset[str]) -> dict[str, str] | None:
    """Return the fields of a form that has usual ones only, each once and with a value."""
    if raw.method != "POST" or raw.query_text or raw.media_type != "application/x-www-form-urlencoded":
        return None
    try:
        pairs = raw.form_pairs
    except ValueError:
        return None
    form = dict(pairs)
    if len(form) != len(pairs) or not usual.issuperset(form) or not all(form.values()):
        return None
    return None if input_filter.are_fields_dangerous(pairs, with_markup=True) else form


def _client(context: Context, form: Mapping[str, str]) -> Application | None:
    """Return a public client, or one that sends its secret in the way that it is registered for. Raises OAuthError."""
    presented = credentials.read(context.raw, dict(form))
    if presented is None or len(presented.client_id) > _LONGEST_ID or "://" in presented.client_id:
        return None
    rate_limits.check_refusals(context, presented.client_id)
    client = context.application(client_id=presented.client_id)
    if client is None or not client.settings.is_active:
        return None
    method = METHODS[client.settings.token_endpoint_auth_method]
    if not (method.is_secret_sent or method is none.METHOD) or method.carrier is not presented.carrier:
        return None
    method.verify(context, client, presented)
    return client
