"""Shared functions of the storefronts: the store of a request, the account's address, and where the browser goes after the sign-on."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit, urlunsplit

from app.contract import errors
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account, verified_email
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.resource_store import items_of
from app.kit.resources.resource import Resource
from app.kit.web.urls import origin_of


def find(context: Context, resource: Resource, name: str) -> Item:
    """Return a store or site by its name. Raises HostedPluginNotFound, HostedPluginInvalid.

    A configuration file may leave its secrets out, so they may be missing here.
    """
    item = items_of(context, resource).get((name,))
    if item is None:
        raise errors.HostedPluginNotFound
    if not all(item.secrets.get(member.path[-1]) for member in resource.members if member.is_secret):
        raise errors.HostedPluginInvalid
    return item


def store_email(account: Account) -> str:
    """Return the account's verified address: it opens the customer's account of that address at the store.

    Raises:
        EmailUnverified: the account has no verified primary address.
        MalformedEmail: the address is not ASCII; a store might take a similar letter for the same.
    """
    email = verified_email(account)
    if email is None:
        raise errors.EmailUnverified
    address = identifiers.smtp_address(email)
    if not address.isascii():
        raise errors.MalformedEmail("The email address has letters beyond ASCII, which stores may take for others.")
    return address


def return_address(context: Context, store_url: str, return_url: str | None) -> str | None:
    """Return where the account goes after the sign-on, as a whole address; None where the request leaves it to the store.

    Raises BadParameter for an address that is neither at the store nor on the tenant's whitelist.
    """
    if not return_url:
        return None
    address = f"{store_url}{return_url}" if return_url.startswith("/") else return_url
    if path_at(store_url, address) is None and not allowed_urls.is_allowed(context, address):
        raise errors.BadParameter("return_url: an address at the store, or one of the tenant's whitelist.")
    return address


def path_at(store_url: str, address: str) -> str | None:
    """Return the path, query and fragment of an address at the store; None for another address.

    A path with two slashes or a backslash, escaped ones included, might lead a browser to another host (RFC 3986 section 4.2).
    """
    if not origin_of(address) or origin_of(address) != origin_of(store_url):
        return None
    parts = urlsplit(address)
    path = unquote(parts.path)
    if "//" in path or "\\" in path:
        return None
    return urlunsplit(("", "", parts.path or "/", parts.query, parts.fragment))
