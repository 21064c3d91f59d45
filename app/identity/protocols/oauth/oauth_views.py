"""How the hosted pages show a relying party and an account."""

from __future__ import annotations

from typing import Final

from app.contract.accounts.models import PersonView
from app.contract.applications.application_logo_pages import COPIED_LOGOS
from app.contract.oauth.models import RelyingPartyView
from app.identity.directory.accounts.account import Account, full_name
from app.identity.directory.tenants import profile_client
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import third_party_initiated_login
from app.kit.web.urls import host_of, is_web_url, redirect_origin, web_url

_MAX_HOME_LENGTH: Final = 160
"""Cookies of the hub cut a longer address."""


def relying_party(context: Context, client: Application, redirect_uri: str | None) -> RelyingPartyView:
    """Return the application that requests the sign-in; its home is the registered one, else the origin of its redirect URI.

    The hosted pages' own client has neither name nor home: to the user it is not an application.
    """
    settings = client.settings
    origin = redirect_origin(redirect_uri) if redirect_uri else None
    registered = next((uri for uri in settings.redirect_uris if is_web_url(uri)), None)
    languages = page_languages(context)
    stated = home_of(context, client)
    home = third_party_initiated_login.start_url(context, client, target=stated, longest=_MAX_HOME_LENGTH)
    home = home or stated or (f"{redirect_origin(registered)}/" if registered else None)
    if client.client_id == profile_client.CLIENT_ID:
        return RelyingPartyView(name="", client_id=client.client_id, redirect_origin=origin)
    return RelyingPartyView(
        name=name_of(context, client),
        client_id=client.client_id,
        home=home,
        logo=_logo(client, languages),
        theme=client.settings.theme_name,
        redirect_origin=origin,
        policy=web_url(settings.text("policy_uri", languages)) or None,
        terms=web_url(settings.text("tos_uri", languages)) or None,
        is_self_registered=client.is_self_registered,
        document_host=host_of(client.client_id) if client.is_of_document else None,
    )


def page_languages(context: Context) -> tuple[str, ...]:
    """Return the language of the page that a browser shows; none outside of a visit."""
    return (context.visit.language,) if context.visit is not None and context.visit.language else ()


def name_of(context: Context, client: Application) -> str:
    """Return the application's name in the language of the page."""
    return client.settings.text("client_name", page_languages(context)) or client.settings.name


def home_of(context: Context, client: Application) -> str | None:
    """Return the home that the application states."""
    return web_url(client.settings.text("client_uri", page_languages(context))) or None


def _logo(client: Application, languages: tuple[str, ...]) -> str | None:
    """Return the address of the logo: our copy of the one without a language, if the application registered itself (decision 0223)."""
    if client.is_self_registered:
        return f"{COPIED_LOGOS}{client.logo_digest}" if client.logo_digest else None
    return _picture(client.settings.text("logo_uri", languages))


def _picture(address: str | None) -> str | None:
    """Return the address of a picture if it is https or a data: image, in which a browser runs no script."""
    if address and address.startswith("data:image/"):
        return address
    return address if address and address.startswith("https://") and is_web_url(address) else None


def label(account: Account) -> str:
    """Return the identifier that an account is shown by."""
    return account.email or account.username or account.phone or account.uid


def person(account: Account, *, shown_as: str | None = None, sees_organizations: bool = False) -> PersonView:
    """Return the account as the account chip shows it, with its language, and the tab Organizations if it has or sees any.

    `shown_as`: the only thing that the chip shows, in place of the account's label and name.
    """
    language = account.profile.get("LocalLanguage") or None
    return PersonView(
        uid=account.uid,
        label=shown_as or label(account),
        name=None if shown_as else full_name(account),
        language=language,
        has_organizations=sees_organizations or bool(account.has_organizations),  # null until the first one
    )
