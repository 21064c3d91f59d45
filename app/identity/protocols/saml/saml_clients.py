"""The tenant's SAML clients, by name and with their keys, and the addresses at which they find the identity provider."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode

from app.contract.oauth.models import RelyingPartyView
from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import SamlClient
from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.resource_store import items_of
from app.identity.platform.saml_key_rollover import CLIENT_KEYS, OwnKey, OwnKeys
from app.kit.web.urls import redirect_origin

DEFAULT_LIFETIME: Final = timedelta(minutes=5)
MAX_MINUTES: Final = 70
"""The longest life of an assertion; a larger `NotOnOrAfter` is the instant after which there are none."""


@dataclass(frozen=True)
class SamlApp:
    """A SAML client with the keys of this service for it."""

    client: SamlClient
    keys: OwnKeys
    current: OwnKey

    @property
    def name(self) -> str:
        return self.client.app_name

    @property
    def entity_id(self) -> str:
        """The service provider's; empty if it is not registered."""
        return self.client.issuer_url or ""

    @property
    def acs_urls(self) -> tuple[str, ...]:
        """The addresses that get responses, the default one first; none where only artifacts may be sent."""
        service = self.client.assertion_consumer_service
        found = (service.location if service.binding == saml_operations.POST_BINDING else None, self.client.reply_url)
        return tuple(dict.fromkeys(url for url in found if url))

    @property
    def sp_certificates(self) -> tuple[str, ...]:
        """The service provider's certificates, in PEM. With any, it must sign its requests."""
        return saml_certificates.read_each(self.client.sp_certificate.certificate, *self.client.sp_certificates)

    def encryption_certificate(self, now: datetime) -> str | None:
        """Return the first certificate of the service provider that is valid now and has an RSA key."""
        return next(
            (
                one
                for one in self.sp_certificates
                if saml_certificates.is_valid(one, now) and saml_certificates.has_rsa_key(one)
            ),
            None,
        )

    @property
    def audiences(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([self.entity_id, *self.client.audiences])) if self.entity_id else ()

    def lifetime(self, now: datetime) -> timedelta:
        """Return how long an assertion of now may be used; nothing or less if none may be issued any more."""
        stated = self.client.not_on_or_after or 0
        if stated > MAX_MINUTES:
            return min(DEFAULT_LIFETIME, timedelta(seconds=stated - int(now.timestamp())))
        return timedelta(minutes=stated) if stated else DEFAULT_LIFETIME


def find(context: Context, name: str) -> SamlApp | None:
    """Return the active SAML client with this name, in any letter case."""
    requested = name.strip().lower()
    found = [item for (key,), item in items_of(context, saml_operations.CLIENTS).items() if key.lower() == requested]
    if len(found) != 1:
        return None
    keys = CLIENT_KEYS.read(found[0].content, found[0].secrets)
    client = SamlClient.model_validate({**found[0].content, "app_name": found[0].name})
    return SamlApp(client, keys, keys.current) if client.is_active and keys.current is not None else None


def entity_id(context: Context) -> str:
    """Return the entity ID of the identity provider, at the host of the request."""
    return f"{context.issuer}/"


def login_url(context: Context, app: SamlApp) -> str:
    return _address(context, saml_operations.LOGIN_PATH, app)


def logout_url(context: Context, app: SamlApp) -> str:
    return _address(context, saml_operations.LOGOUT_PATH, app)


def _address(context: Context, path: str, app: SamlApp) -> str:
    return f"{context.issuer}{path}?{urlencode({'appname': app.name})}"


def view_of(app: SamlApp, acs_url: str | None) -> RelyingPartyView:
    """Return the service provider as pages show it."""
    origin = redirect_origin(acs_url) if acs_url else None
    return RelyingPartyView(name=app.name, client_id="", home=app.client.login_url, redirect_origin=origin)


def is_after_logout(context: Context, url: str) -> bool:
    """Return whether a SAML client states this address for the browser after a sign-out."""
    return any(
        item.content.get("after_logout_url") == url for item in items_of(context, saml_operations.CLIENTS).values()
    )
