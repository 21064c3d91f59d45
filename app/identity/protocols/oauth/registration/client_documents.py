"""Client-id metadata documents: the `client_id` is the https address of a document that describes the application.

OAuth Client ID Metadata Document (draft-ietf-oauth-client-id-metadata-document) sections 3 to 6. The tenant switches it on.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from app.contract.applications.client_authentication import WITH_SECRET
from app.contract.applications.settings import ApplicationSettings
from app.contract.oauth.oauth_errors import InvalidClientMetadata, RegistrationClosed, SlowDown
from app.identity.directory.tenants import registered_applications, tenant_writes
from app.identity.directory.tenants.registered_applications import DOCUMENT, Logo, RegisteredApplication
from app.identity.platform.context import Context
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.protocols.oauth import rate_limits
from app.identity.protocols.oauth.consents import application_consents
from app.identity.protocols.oauth.registration import changed_identity, client_metadata, referenced_documents
from app.kit.limits.rate_limits import Rate
from app.kit.web.proxies import is_local
from app.kit.web.urls import host_of, is_web_url

_FRESH: Final = timedelta(hours=1)
_USABLE: Final = timedelta(hours=24)
"""How long a document still counts while its address does not answer."""
_UNUSED: Final = timedelta(days=1)
"""How long a document is stored before anyone signs in with it; each use moves its end (`unused_days`)."""
_READS_OF_NETWORK: Final = Rate(30, 60)
_READS_OF_TENANT: Final = Rate(600, 60)
_GONE: Final = (404, 410)
_SECRETS: Final = ("client_secret", "client_secret_expires_at")


def is_document(client_id: str, *, allows_http: bool = False) -> bool:
    """Return whether the id is the address of a document: https, with a path, without fragment, user and dot segments (section 3)."""
    if not is_web_url(client_id) or any(mark in client_id for mark in "#@?"):
        return False
    parts = urlsplit(client_id)
    is_secure = parts.scheme == "https" or (allows_http and is_local(parts.hostname or ""))
    return is_secure and parts.path not in ("", "/") and {".", ".."}.isdisjoint(parts.path.split("/"))


def refresh(context: Context, client_id: str) -> None:
    """Read the document of an application that is not known, or whose document was read over an hour ago.

    Does nothing for any other client id. The database connection is returned meanwhile.

    Raises:
        InvalidClientMetadata, InvalidRedirectUri: there is no document, or it describes no application that may sign in.
        RegistrationClosed: the tenant has as many registrations as it allows.
        SlowDown: too many documents are read for this network or this tenant, and the stored one is too old.
    """
    allows_http = context.services.settings.public_scheme == "http"
    is_on = context.tenant.settings.client_registration.client_id_documents
    if not is_on or not is_document(client_id, allows_http=allows_http):
        return
    stored = registered_applications.find(context.work, client_id)
    if stored is None and context.application(client_id=client_id) is not None:
        return  # the tenant configured an application with this id
    # A reading of the future is as old as it is ahead: the clock of the one who read was put back, or is fast.
    if stored is not None and stored.refreshed_at is not None and abs(context.now - stored.refreshed_at) < _FRESH:
        return
    window = (
        "oauth.documents" if stored is None else "oauth.documents_again"
    )  # new ones keep no stored one from its refresh
    try:
        rate_limits.count_against(context, f"{window}_of_network", _READS_OF_NETWORK, context.network)
        rate_limits.count_against(context, window, _READS_OF_TENANT)
    except SlowDown:
        if stored is not None and stored.refreshed_at is not None and context.now < stored.refreshed_at + _USABLE:
            return
        raise
    read = _read(context, client_id, stored, allows_http=allows_http)
    if read is not None:
        _keep(context, client_id, *read)


def _read(
    context: Context, client_id: str, stored: RegisteredApplication | None, *, allows_http: bool
) -> tuple[ApplicationSettings, Logo | None] | None:
    """Return the application that the document describes; None if the stored one still counts."""
    context.work.release_connection()
    try:
        members = outbound_http.get_json_object(
            context.services.provider_metadata.resolver, client_id, is_untrusted=True
        )
    except ProviderUnavailable as problem:
        read_at = stored.refreshed_at if stored is not None else None
        if read_at is not None and problem.status not in _GONE and context.now < read_at + _USABLE:
            return None
        raise InvalidClientMetadata("The client_id leads to no document.") from None
    settings = _settings(context, client_id, members, allows_http=allows_http)
    return settings, referenced_documents.check(context, settings)


def _settings(context: Context, client_id: str, members: dict[str, Any], *, allows_http: bool) -> ApplicationSettings:
    """Check the document's claims about itself (section 4.1)."""
    if members.get("client_id") != client_id:
        raise InvalidClientMetadata("client_id: expected the address of the document.")
    method = members.get("token_endpoint_auth_method", "none")
    if not isinstance(method, str) or method in WITH_SECRET or any(name in members for name in _SECRETS):
        raise InvalidClientMetadata("token_endpoint_auth_method: expected one without a shared secret.")
    named = {"client_name": host_of(client_id), **members, "token_endpoint_auth_method": method}
    name = f"doc-{hashlib.sha256(client_id.encode()).hexdigest()[:20]}"
    own, schemes = context.own_urls, context.tenant.settings.client_registration.redirect_schemes
    return client_metadata.read(named, name=name, schemes=schemes, allows_http=allows_http, own_urls=own)


def _keep(context: Context, client_id: str, settings: ApplicationSettings, logo: Logo | None) -> None:
    """Store the application in a transaction of its own: the request may still fetch other addresses, such as its keys."""
    with context.work.separate_transaction() as work:
        work.begin()
        tenant_writes.lock(work)  # of several first requests one adds the application
        stored = registered_applications.find(work, client_id, locks=True)
        if stored is not None:
            settings = client_metadata.keep(settings, stored.settings)
            if changed_identity.is_another(stored, settings, logo):
                application_consents.revoke_all(work, client_id)
            tenant_writes.change_application(work, client_id, settings)
            registered_applications.mark(work, client_id, refreshed_at=context.now)
        else:
            bounds = context.tenant.settings.client_registration
            if registered_applications.count(work, network=context.network) >= bounds.max_applications_per_address:
                raise RegistrationClosed("Too many applications were registered from this network.")
            if registered_applications.count(work) >= bounds.max_applications:
                raise RegistrationClosed("No more applications can register here.")
            marks = {"registered_by": DOCUMENT, "refreshed_at": context.now, "expires_at": context.now + _UNUSED}
            registered_applications.add(
                work, client_id, settings, context.now, registered_from=context.network, **marks
            )
            context.audit.record("application.registered", client_id=client_id, by=DOCUMENT)
        context.services.signing_keys.publish(work, settings.algorithms)
        registered_applications.set_logo(work, client_id, logo)
