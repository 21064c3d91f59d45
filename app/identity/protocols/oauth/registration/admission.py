"""Decides who may register an application: any caller, or holders of an initial access token (RFC 7591 section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from app.contract.oauth.oauth_errors import InvalidToken, RegistrationClosed
from app.identity.directory.tenants import registered_applications, tenant_writes
from app.identity.directory.tenants.registered_applications import OPEN, TOKEN
from app.identity.platform.context import Context
from app.identity.protocols.oauth import rate_limits
from app.identity.protocols.oauth.registration import initial_access_tokens
from app.kit.limits.rate_limits import Rate

_REFUSED: Final = "registration"
"""Replaces the client's id in the limits of refusals, before the client has one."""


@dataclass(frozen=True)
class RegistrationAdmission:
    """A request that may register an application, unless it loses a race for the last one."""

    registered_by: str
    token: str = ""
    network: str | None = None


def admit(context: Context) -> RegistrationAdmission:
    """Check the request before its metadata are read and addresses in them are fetched.

    Raises:
        RegistrationClosed: the tenant does not allow the registration of applications.
        InvalidToken: the initial access token is missing, or not usable any more.
        SlowDown: too many registrations of this network, or too many wrong tokens.
    """
    settings, token = context.tenant.settings.client_registration, context.raw.bearer()
    if settings.mode == "closed":
        raise RegistrationClosed
    if token is None:
        if not settings.is_open:
            raise InvalidToken("Send an initial access token.")
        if hourly := context.tenant.settings.limits.register_clients_per_hour_per_address:
            rate_limits.count_against(context, "oauth.register", Rate(hourly, 3_600), context.network)
        return RegistrationAdmission(OPEN, network=context.network)
    rate_limits.check_refusals(context, _REFUSED)
    if not initial_access_tokens.is_usable(context.work, token, context.now):
        rate_limits.count_refusal(context, _REFUSED)
        raise InvalidToken("The initial access token is not valid.")
    return RegistrationAdmission(TOKEN, token)


def settle(context: Context, admission: RegistrationAdmission) -> dict[str, Any]:
    """Spend the token or check the bounds, and return the marks of the new registration; the tenant is locked for that.

    Raises:
        RegistrationClosed: there are as many registrations as the tenant allows, in all or from this network.
        InvalidToken: concurrent requests have used the token up.
    """
    settings = context.tenant.settings.client_registration
    context.work.begin()
    tenant_writes.lock(context.work)
    name = None
    if admission.registered_by == TOKEN:
        name = initial_access_tokens.spend(context.work, admission.token, context.now)
        if name is None:
            raise InvalidToken("The initial access token is not valid.")
    elif registered_applications.count(context.work, network=admission.network) >= (
        settings.max_applications_per_address
    ):
        raise RegistrationClosed("Too many applications were registered from this network.")
    if registered_applications.count(context.work) >= settings.max_applications:
        raise RegistrationClosed("No more applications can register here.")
    return {
        "registered_by": admission.registered_by,
        "registered_from": admission.network,
        "expires_at": context.now + timedelta(days=settings.unused_days),
    }
