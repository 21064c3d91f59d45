"""Authenticates the client of a request by the method that it is registered for."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from app.contract.oauth.oauth_errors import (
    InvalidClient,
    InvalidClientMetadata,
    InvalidRedirectUri,
    InvalidRequest,
    InvalidTarget,
    RegistrationClosed,
)
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers, rate_limits, refusal_log
from app.identity.protocols.oauth.client_authentication import credentials, none, shared_secrets
from app.identity.protocols.oauth.client_authentication.authentication_methods import METHODS
from app.identity.protocols.oauth.client_authentication.credentials import Carrier, ClientCredentials
from app.identity.protocols.oauth.client_authentication.method import Method
from app.identity.protocols.oauth.registration import client_documents
from app.kit.observability.logs import bind
from app.kit.operations.errors import OAuthError
from app.kit.operations.operation import Accept
from app.kit.operations.request_parsing import RawRequest

_MAX_ID_LENGTH = 128
_FORM = Accept.FORM.types


def authenticate(context: Context, raw: RawRequest, body: dict[str, Any]) -> Application:
    """Authenticate and return the client; a public client sends only its id.

    Raises:
        InvalidTarget: several resources (decision 0142).
        InvalidRequest: another parameter comes twice, two methods at once, or no client_id or no secret where the address names the
            application.
        InvalidClient: the client is unknown, inactive, or not the application that the address names; at the tenant-wide
            addresses also a missing client_id, a wrong or missing secret, and another method than the registered one.
        UnauthorizedClient: the secret is wrong, at addresses that name the application and at those of machine tokens.
        SlowDown: too many refusals of this address, or of this client at it.
    """
    _refuse_repeated(context, raw)
    presented = credentials.read(raw, body)
    if presented is None:
        raise _missing(raw, "client_id")
    bind(client_id=refusal_log.shown(presented.client_id))
    if len(presented.client_id) > _MAX_ID_LENGTH:
        raise InvalidClient
    rate_limits.check_refusals(context, presented.client_id)
    _read_document(context, presented)
    client = context.application(client_id=presented.client_id)
    if client is None or not client.settings.is_active or not issuers.is_addressed_by(client, raw):
        shared_secrets.is_right(context, None, presented.secrets)  # takes the time of a known client
        raise _refused(context, presented, InvalidClient())
    if presented.carrier is Carrier.NOTHING and _registered(client).carrier is not Carrier.NOTHING:
        raise _missing(raw, "client_secret")
    try:
        _method(client, presented, raw).verify(context, client, presented)
    except OAuthError as refusal:
        raise _refused(context, presented, refusal) from None
    return client


def has_secret(context: Context, client: Application | None, secret: str) -> bool:
    """Return whether the client may send this secret; the time does not reveal whether the client exists."""
    is_right = shared_secrets.is_right(context, client, (secret,))
    return client is not None and _registered(client).is_secret_sent and is_right


def _read_document(context: Context, presented: ClientCredentials) -> None:
    """Read the document that describes the client, where its id is the address of one. Raises InvalidClient, SlowDown."""
    try:
        client_documents.refresh(context, presented.client_id)
    except (InvalidClientMetadata, InvalidRedirectUri, RegistrationClosed) as refusal:
        raise _refused(context, presented, InvalidClient(refusal.description)) from None


def _registered(client: Application) -> Method:
    return METHODS[client.settings.token_endpoint_auth_method]


def _method(client: Application, presented: ClientCredentials, raw: RawRequest) -> Method:
    """Return the method of the request. Raises InvalidClient if the client may not use it (decision 0147)."""
    registered = _registered(client)
    if registered.carrier is presented.carrier:
        return registered
    if registered is none.METHOD:
        raise InvalidClient("A public client has no client_secret.")
    sent = next(method for method in METHODS.values() if method.carrier is presented.carrier)
    is_named = "token_endpoint_auth_method" in client.settings.model_fields_set
    if registered.is_secret_sent and sent.is_secret_sent and not (is_named and issuers.is_standard_endpoint(raw)):
        return sent
    raise InvalidClient(f"This client authenticates with {registered.name}.")


def _refuse_repeated(context: Context, raw: RawRequest) -> None:
    """Refuse repeated parameters (RFC 6749 section 3.2): two parsers could pick different values.

    `resource` alone may be repeated (RFC 8707 section 2), which has an error of its own where several are not served.
    """
    names = _names(raw)
    if len(names) == len(set(names)):
        return
    repeated = {name for name, count in Counter(names).items() if count > 1}
    is_several = (
        context.operation is not None and InvalidTarget in context.operation.errors and repeated == {"resource"}
    )
    if is_several:
        raise InvalidTarget("Name one resource.")
    raise InvalidRequest("A parameter is given more than once.")


def _names(raw: RawRequest) -> list[str]:
    """Return the names of the body's members in lower case; the reader has accepted it as a form or as one JSON object."""
    if raw.media_type in _FORM:
        return [name.lower() for name, value in raw.form_pairs if value]
    numbers_unread: dict[str, Any] = {"parse_int": str, "parse_float": str}
    pairs = json.loads(raw.body, object_pairs_hook=list, **numbers_unread) if raw.body.strip() else []
    return [name.lower() for name, _ in pairs]


def _missing(raw: RawRequest, name: str) -> OAuthError:
    is_standard = issuers.is_standard_endpoint(raw)
    return InvalidClient("The client must authenticate.") if is_standard else InvalidRequest.names(name)


def _refused(context: Context, presented: ClientCredentials, error: OAuthError) -> OAuthError:
    rate_limits.count_refusal(context, presented.client_id)
    context.audit.record("client.refused", client_id=presented.client_id, error=error.code)
    return error
