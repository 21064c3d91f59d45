"""Pushed authorization requests (RFC 9126): checked when the client pushes them, and used once, within 90 seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from app.contract import errors_oauth as oauth
from app.contract.oauth_authorization import PushedRequest, PushedResponse
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import NO_ACCOUNT, ContinuationPurpose
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers, sender_constraints
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect, RefusedOnPage, UncheckedRequest
from app.kit import randomness
from app.kit.errors import OAuthError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.identity.protocols.oauth.authorize.checks import Check

LIFETIME: Final = timedelta(seconds=90)
PREFIX: Final = "urn:ietf:params:oauth:request_uri:"
_NOT_STORED = {"app", "client_secret", "client_assertion_type", "client_assertion"}
ERRORS: Final[Mapping[str, type[OAuthError]]] = {
    str(error.code): error
    for error in (
        *(oauth.InvalidScope, oauth.InvalidTarget, oauth.UnauthorizedClient, oauth.UnsupportedResponseType),
        *(oauth.RequestNotSupported, oauth.InvalidRequestObject, oauth.RegistrationNotSupported),
        *(oauth.UnmetAuthenticationRequirements, oauth.InvalidAuthorizationDetails),
    )
}
"""The errors of the authorization endpoint that an endpoint for clients answers itself."""


def push(context: Context, client: Application, req: PushedRequest, checks: Iterable[Check]) -> PushedResponse:
    """Check a request as the authorization endpoint would, and store it (section 2).

    Raises:
        InvalidRequest and others: what the authorization endpoint would have answered.
    """
    members = {**req.model_dump(exclude=_NOT_STORED, exclude_none=True, by_alias=True), "client_id": client.client_id}
    parameters = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in members.items()]
    protocol = issuers.at(context, client).protocol
    request = UncheckedRequest(context, protocol, req.app, parameters, is_push=True)
    try:
        for check in checks:
            check(request)
    except RefusedOnPage as refusal:
        raise oauth.InvalidRequest(f"The {refusal.problem} is missing or not registered.") from None
    except RefusedByRedirect as refusal:
        raise ERRORS.get(refusal.error, oauth.InvalidRequest)(refusal.description) from None
    if (key := sender_constraints.pushed_key(context, client, request.values.get("dpop_jkt"))) is not None:
        request.values["dpop_jkt"] = key
    facts = {"client_id": client.client_id, "issuer": request.issuer.url, "parameters": request.values}
    token = continuation_tokens.issue(
        context,
        ContinuationPurpose.PUSHED_REQUEST,
        NO_ACCOUNT,
        lifetime=LIFETIME,
        facts=facts,
        text=randomness.token(),
    )
    context.audit.record("authorize.pushed", client_id=client.client_id)
    return PushedResponse(request_uri=f"{PREFIX}{token.text}", expires_in=int(LIFETIME.total_seconds()))


def spend(request: UncheckedRequest, address: str) -> dict[str, str]:
    """Return the parameters of a pushed request of this client, once (section 4).

    Raises:
        RefusedByRedirect: it is unknown, used or expired, another client's, or was pushed to another issuer.
    """
    kind = ContinuationPurpose.PUSHED_REQUEST
    token = continuation_tokens.find(request.context, kind, address.removeprefix(PREFIX))
    expected = {"client_id": request.client.client_id, "issuer": request.issuer.url}
    is_ours = token is not None and expected.items() <= token.facts.items()
    if token is None or not is_ours or not continuation_tokens.spend(request.context, token):
        raise RefusedByRedirect("invalid_request_uri", "The request_uri has expired or was used.")
    return dict(token.facts["parameters"])
