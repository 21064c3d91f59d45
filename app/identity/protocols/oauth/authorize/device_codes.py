"""Device authorizations (RFC 8628): the device's code, the person's code, and the answer that the device polls for."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.file import DEVICE_GRANT
from app.contract.oauth import oauth_errors
from app.contract.oauth.authorization_operations import DeviceRequest, DeviceResponse
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.authorize.oauth_parameters import authorization_details, resource, scope
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect, UncheckedRequest
from app.identity.protocols.oauth.issuers import Issuer
from app.kit import randomness
from app.kit.operations.errors import OAuthError
from app.kit.text.code_normalization import typed_code

ALLOWED: Final = "allowed"
DENIED: Final = "denied"
SLOWER_SECONDS: Final = 5
"""How much longer a device that polls too early must wait from then on (section 3.5)."""
PAGE: Final = "/device"
"""The page of the hub where the person types the code, at every issuer."""
_CODE_LENGTH: Final = 8
_CHECKS: Final = (resource, scope, authorization_details)


def issue(context: Context, client: Application, req: DeviceRequest) -> DeviceResponse:
    """Store an authorization that waits for a person (section 3.2).

    Raises:
        UnauthorizedClient: the client is not registered for the grant.
        InvalidScope, InvalidTarget, InvalidAuthorizationDetails, RequestNotSupported: as at the authorization endpoint.
    """
    if DEVICE_GRANT not in client.settings.grant_types:
        raise oauth_errors.UnauthorizedClient("This client may not use this grant.")
    issuer = issuers.requested_issuer(context, client)
    accepted = _accepted(context, client, issuer, req)
    lifetime = timedelta(seconds=client.settings.device_code_seconds)
    text, user_code = randomness.token(), _new_user_code(context)
    facts = {
        "client_id": client.client_id, "issuer": issuer.url, "scope": list(accepted["scope"]), "resource": accepted.get("resource"),
        "details": list(accepted.get("authorization_details", ())),
        "user_code": user_code, "address": context.ip_address[:64], "agent": context.agent, "interval": client.settings.device_poll_seconds,
    }  # fmt: skip
    device = continuation_tokens.issue(
        context, ContinuationPurpose.DEVICE_CODE, NO_ACCOUNT, lifetime=lifetime, facts=facts, text=text
    )
    named = {"device": device.token_hash}
    continuation_tokens.issue(
        context, ContinuationPurpose.USER_CODE, NO_ACCOUNT, lifetime=lifetime, facts=named, text=user_code
    )
    context.audit.record("device.started", client_id=client.client_id)
    address, shown = f"{context.issuer}{PAGE}", written(user_code)
    return DeviceResponse(
        device_code=text,
        user_code=shown,
        verification_uri=address,
        verification_uri_complete=f"{address}?user_code={shown}",
        expires_in=client.settings.device_code_seconds,
        interval=client.settings.device_poll_seconds,
    )


def _new_user_code(context: Context) -> str:
    """Return a code that no stored authorization has: the person types only 34 bits (section 6.1)."""
    while continuation_tokens.find(context, ContinuationPurpose.USER_CODE, code := randomness.user_code()) is not None:
        pass
    return code


def _accepted(context: Context, client: Application, issuer: Issuer, req: DeviceRequest) -> dict[str, Any]:
    default = scope.OPENID if issuer.protocol is ClientProtocol.OPENID and not client.is_self_registered else ""
    named = req.scope or " ".join(scope.defaults(context, client, issuer.protocol)) or default
    parameters = [("scope", named), ("resource", req.resource or "")]
    if (details := req.authorization_details) is not None:
        parameters.append(("authorization_details", details if isinstance(details, str) else json.dumps(details)))
    request = UncheckedRequest(context, issuer.protocol, req.app, parameters)
    request.client, request.issuer = client, issuer
    try:
        for check in _CHECKS:
            check.check(request)
    except RefusedByRedirect as refusal:
        raise refusal.to_client_error() from None
    return request.accepted


def written(user_code: str) -> str:
    """Return a user code as devices and pages show it."""
    return f"{user_code[:4]}-{user_code[4:]}"


def request_of(device: ContinuationToken) -> CheckedRequest:
    """Return the request of the device."""
    facts = device.facts
    return CheckedRequest(
        client_id=facts["client_id"],
        issuer=facts["issuer"],
        redirect_uri="",
        scope=tuple(facts["scope"]),
        resource=facts.get("resource"),
        authorization_details=tuple(facts.get("details") or ()),
    )


def still_holds(context: Context, client: Application, device: ContinuationToken) -> bool:
    """Return whether the client may still send the request of its device (decision 0314)."""
    request = request_of(device)
    is_registered = client.settings.is_active and DEVICE_GRANT in client.settings.grant_types
    return is_registered and all(check.still_holds(context, client, request) for check in _CHECKS)


def find_typed(context: Context, typed: str) -> ContinuationToken | None:
    """Return the open authorization of a typed code, in any letter case and width, with or without a dash."""
    code = "".join(letter for letter in typed_code(typed).upper() if letter.isascii() and letter.isalpha())
    named = (
        continuation_tokens.find(context, ContinuationPurpose.USER_CODE, code) if len(code) == _CODE_LENGTH else None
    )
    device = find(context, str(named.facts["device"])) if named is not None else None
    return device if device is not None and device.state == OPEN else None


def find(context: Context, token_hash: str) -> ContinuationToken | None:
    """Return a live authorization by its digest."""
    device = continuation_tokens.by_hash(context, ContinuationPurpose.DEVICE_CODE, token_hash)
    return device if device is not None and not device.is_expired(context.now) else None


def decide(context: Context, device: ContinuationToken, state: str, **facts: Any) -> bool:
    """Record the person's answer; returns False where another answer came before."""
    return continuation_tokens.change_state(context, replace(device, state=OPEN), state, **facts)


def redeem(context: Context, client: Application, issuer: Issuer, text: str) -> dict[str, Any]:
    """Spend the code of an authorization that was allowed, and return its facts (section 3.5).

    Raises:
        InvalidGrant: the code is unknown, spent, another client's or another issuer's.
        ExpiredDeviceCode, AccessDenied, AuthorizationPending: as they say; expired, too, where the client may no longer ask for it.
        PollSlower: the interval is not over; it grows by five seconds.
    """
    device = continuation_tokens.find(context, ContinuationPurpose.DEVICE_CODE, text)
    expected = {"client_id": client.client_id, "issuer": issuer.url}
    if device is None or not _has(device.facts, expected.items()):
        raise oauth_errors.InvalidGrant("The device_code is not valid.")
    if device.is_expired(context.now) or not still_holds(context, client, device):
        raise oauth_errors.ExpiredDeviceCode
    if device.state == DENIED:
        raise oauth_errors.AccessDenied
    if device.state == OPEN:
        raise _still_waiting(context, device)
    if not continuation_tokens.spend(context, device):
        raise oauth_errors.InvalidGrant("The device_code was used.")
    return device.facts


def _still_waiting(context: Context, device: ContinuationToken) -> OAuthError:
    """Return the error of a poll before the answer and record its time, unless the answer is stored concurrently."""
    now, interval = int(context.now.timestamp()), int(device.facts["interval"])
    is_early = now < int(device.facts.get("polled_at", 0)) + interval
    interval += SLOWER_SECONDS if is_early else 0
    continuation_tokens.change_state(context, device, OPEN, polled_at=now, interval=interval)
    kind = oauth_errors.PollSlower if is_early else oauth_errors.AuthorizationPending
    return kind(commit_on_raise=True)


def _has(facts: dict[str, Any], expected: Iterable[tuple[str, str]]) -> bool:
    return all(facts.get(name) == value for name, value in expected)
