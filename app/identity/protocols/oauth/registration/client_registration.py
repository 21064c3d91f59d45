"""Registers applications (RFC 7591), and lets them read, replace and delete their registration (RFC 7592)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any, Final

from app.contract.applications.client_authentication import SECRET_JWT
from app.contract.applications.client_protocol import ClientProtocol
from app.contract.applications.settings import ApplicationSettings
from app.contract.oauth.client_registration_operations import NewRegistrationResponse, RegistrationResponse
from app.contract.oauth.oauth_errors import InvalidClientMetadata, InvalidToken, RegistrationClosed, UnknownApplication
from app.identity.directory.tenants import registered_applications
from app.identity.directory.tenants.keys import client_secrets
from app.identity.directory.tenants.registered_applications import DOCUMENT, Logo, RegisteredApplication
from app.identity.platform.context import Context
from app.identity.protocols.oauth import client_powers, issuers, rate_limits
from app.identity.protocols.oauth.consents import application_consents
from app.identity.protocols.oauth.registration import (
    admission,
    changed_identity,
    client_metadata,
    referenced_documents,
    software_statements,
)
from app.kit import randomness
from app.kit.limits.rate_limits import Rate

_DUMMY_HASH: Final = randomness.digest(
    randomness.token()
)  # compared for an unknown client, so that timing reveals nothing
_FETCHES_OF_NETWORK: Final = Rate(30, 60)
_RENAMES: Final = Rate(10, 3_600)
"""Replacements after which people are asked for consent again, of one registration."""
_NEVER: Final = 0  # client_secret_expires_at
_MAX_ID_LENGTH: Final = 128


def register(context: Context, app: str | None, members: Mapping[str, Any]) -> NewRegistrationResponse:
    """Register an application at the tenant's issuer, or at that of the application in the address (RFC 7591 section 3.1).

    Raises:
        UnknownApplication: the address names no application.
        RegistrationClosed, InvalidToken, SlowDown: the caller may not register.
        InvalidRedirectUri, InvalidClientMetadata, InvalidSoftwareStatement, UnapprovedSoftwareStatement: the metadata are refused.
    """
    protocol, under = _issuer_of(context, app)
    admitted = admission.admit(context)
    stated = software_statements.apply(context, members)
    name = f"app-{randomness.hexadecimal(20)}"
    settings = _read(context, stated, name=name, protocol=protocol)
    logo = _fetch(context, stated, settings)
    marks = admission.settle(context, admitted)
    client_id, token = randomness.guid(), randomness.token()
    secret = randomness.token() if settings.has_secret else None
    marks |= {"registered_under": under, "registration_token_hash": randomness.digest(token)}
    marks |= client_secrets.columns(context.services.encryption, context.tenant.tenant_id, client_id, settings, secret)
    registered_applications.add(context.work, client_id, settings, context.now, **marks)
    context.services.signing_keys.publish(context.work, settings.algorithms)
    registered_applications.set_logo(context.work, client_id, logo)
    context.audit.record("application.registered", client_id=client_id, by=admitted.registered_by)
    return NewRegistrationResponse(
        **_members(context, client_id, int(context.now.timestamp()), secret, token),
        **_statement(members),
        **client_metadata.write(settings),
    )


def read(context: Context, client_id: str) -> RegistrationResponse:
    """Return a registration without its secrets, of which only digests are stored. Raises InvalidToken, SlowDown."""
    stored = _authenticate(context, client_id)
    return RegistrationResponse(
        **_members(context, client_id, int(stored.created_at.timestamp())), **client_metadata.write(stored.settings)
    )


def replace(context: Context, client_id: str, members: Mapping[str, Any]) -> RegistrationResponse:
    """Replace the metadata; the registration access token is replaced too (RFC 7592 section 2.2).

    Members that are omitted get their defaults. What the tenant set stays (decision 0332). An application that needs a secret which it
    does not have gets one.

    Raises:
        InvalidToken, SlowDown: the caller is not the application.
        RegistrationClosed: the tenant gave the application powers.
        InvalidClientMetadata and others: as for `register`; also for another client_id or client_secret.
    """
    stored = _authenticate(context, client_id)
    if members.get("client_id") != client_id:
        raise InvalidClientMetadata("client_id: expected the one of this registration.")
    secret = members.get("client_secret")
    if secret is not None and not (isinstance(secret, str) and _is(secret, stored.secret_hash)):
        raise InvalidClientMetadata(
            "client_secret: expected the issued one; an application does not choose its secret."
        )
    _refuse_powerful(context, stored)
    stated = software_statements.apply(context, members)
    before = stored.settings
    settings = _read(context, stated, name=before.name, protocol=before.protocol)
    logo = _fetch(context, stated, settings)
    context.work.begin()
    token = randomness.token()
    stored = _authenticate(context, client_id, locks=True)  # locked, so that the token was not replaced since
    _refuse_powerful(context, stored)
    settings = client_metadata.keep(settings, stored.settings)
    if changed_identity.is_another(stored, settings, logo):
        # Ending the consents to one client reads all consents of the tenant.
        rate_limits.count_against(context, "oauth.registration_renamed", _RENAMES, client_id)
        application_consents.revoke_all(context.work, client_id)
    new_secret, columns = _secret_of(context, stored, settings)
    if not registered_applications.replace(
        context.work, stored, settings, secret=columns, token_hash=randomness.digest(token)
    ):
        raise InvalidToken
    context.services.signing_keys.publish(context.work, settings.algorithms)
    registered_applications.set_logo(context.work, client_id, logo)
    context.audit.record("application.registration_changed", client_id=client_id)
    return RegistrationResponse(
        **_members(context, client_id, int(stored.created_at.timestamp()), new_secret, token),
        **_statement(members),
        **client_metadata.write(settings),
    )


def _fetch(context: Context, members: Mapping[str, Any], settings: ApplicationSettings) -> Logo | None:
    """Check the documents that the metadata reference, and return a copy of the logo. Raises SlowDown for a network that names many."""
    if referenced_documents.ADDRESSES & members.keys():
        rate_limits.count_against(context, "oauth.registration_fetches", _FETCHES_OF_NETWORK, context.network)
    return referenced_documents.check(context, settings)


def _secret_of(
    context: Context, stored: RegisteredApplication, settings: ApplicationSettings
) -> tuple[str | None, dict[str, Any]]:
    """Return a new secret, if the method needs one and none is stored, and the changed columns (decision 0210)."""
    signs = settings.token_endpoint_auth_method == SECRET_JWT
    if not settings.has_secret:
        return None, dict(client_secrets.NONE)
    if stored.secret_hash is None or (signs and stored.sealed_secret is None):
        secret, tenant_id = randomness.token(), context.tenant.tenant_id
        return secret, client_secrets.columns(
            context.services.encryption, tenant_id, stored.client_id, settings, secret
        )
    return None, {} if signs else {"sealed_secret": None, "former_sealed_secret": None}


def remove(context: Context, client_id: str) -> None:
    """Delete an application with its tokens and consents (RFC 7592 section 2.3).

    Raises InvalidToken, SlowDown, RegistrationClosed.
    """
    _refuse_powerful(context, _authenticate(context, client_id))
    registered_applications.remove(context.work, client_id)
    context.audit.record("application.unregistered", client_id=client_id)


def _read(context: Context, members: Mapping[str, Any], *, name: str, protocol: ClientProtocol) -> ApplicationSettings:
    return client_metadata.read(
        members,
        name=name,
        protocol=protocol,
        schemes=context.tenant.settings.client_registration.redirect_schemes,
        allows_http=allows_http(context),
        own_urls=context.own_urls,
    )


def allows_http(context: Context) -> bool:
    """Return whether this is a development installation, whose own addresses are http."""
    return context.services.settings.public_scheme == "http"


def _issuer_of(context: Context, app: str | None) -> tuple[ClientProtocol, str | None]:
    """Return the protocol of the address, and the name of the application that it names. Raises UnknownApplication."""
    if app is None:
        return ClientProtocol.OPENID, None
    client = issuers.require_application(context, app)
    if client.is_self_registered:
        raise UnknownApplication
    return client.settings.protocol, client.name


def _authenticate(context: Context, client_id: str, *, locks: bool = False) -> RegisteredApplication:
    """Return the registration whose registration access token is sent (RFC 7592 section 2).

    An unknown client, another client's token and no token get the same answer in the same time.
    """
    if len(client_id) > _MAX_ID_LENGTH:
        raise InvalidToken
    rate_limits.check_refusals(context, client_id)
    stored, token = registered_applications.find(context.work, client_id, locks=locks), context.raw.bearer()
    is_right = _is(token or "", stored.token_hash if stored is not None else None)
    if stored is None or not is_right or stored.registered_by == DOCUMENT:
        rate_limits.count_refusal(context, client_id)
        raise InvalidToken("The registration access token is not valid.")
    return stored


def _refuse_powerful(context: Context, stored: RegisteredApplication) -> None:
    """Refuse the registration access token where the tenant has since given the application powers. Raises RegistrationClosed."""
    if client_powers.has_any(context, stored.settings, stored.client_id):
        raise RegistrationClosed("The tenant gave this application powers. Only the tenant changes it.")


def _statement(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the software statement of a request, which the response repeats (RFC 7591 section 3.2.1)."""
    statement = members.get(software_statements.MEMBER)
    return {software_statements.MEMBER: statement} if statement is not None else {}


def _is(secret: str, expected: str | None) -> bool:
    matches = hmac.compare_digest(randomness.digest(secret).encode(), (expected or _DUMMY_HASH).encode())
    return matches and expected is not None


def _members(
    context: Context, client_id: str, issued_at: int, secret: str | None = None, token: str | None = None
) -> dict[str, Any]:
    return {
        "client_id": client_id,
        "client_id_issued_at": issued_at,
        "client_secret": secret,
        "client_secret_expires_at": _NEVER if secret is not None else None,
        "registration_access_token": token,
        "registration_client_uri": f"{issuers.tenant_wide(context).client_endpoint('register')}/{client_id}",
    }
