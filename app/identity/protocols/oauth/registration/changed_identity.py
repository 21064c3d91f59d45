"""The name and addresses that identify a self-registered application to people; a change asks for consent again (decision 0332)."""

from __future__ import annotations

from app.contract.applications.settings import ApplicationSettings
from app.identity.directory.tenants.registered_applications import Logo, RegisteredApplication
from app.kit.web.urls import redirect_origin


def is_another(stored: RegisteredApplication, settings: ApplicationSettings, logo: Logo | None) -> bool:
    """Return whether an application gets another name or logo, or leads to a place that the consent page did not show."""
    # Without a digest, the logo's address did not answer when it was last fetched: now it does, and the logo is no other one.
    is_same_logo = logo is None or stored.logo_digest is None or stored.logo_digest == logo.digest
    is_known = _names(settings) == _names(stored.settings) and is_same_logo
    return not is_known or not _places(settings) <= _places(stored.settings)


def _names(settings: ApplicationSettings) -> tuple[object, ...]:
    localized = {tag: texts.client_name for tag, texts in settings.localized.items() if texts.client_name is not None}
    return settings.client_name, settings.logo_uri, localized


def _places(settings: ApplicationSettings) -> frozenset[str]:
    return frozenset(redirect_origin(uri) for uri in settings.redirect_uris)
