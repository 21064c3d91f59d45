"""Operations that sign the account of an access token in at the tenant's storefronts and booking systems."""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlsplit

from app.contract import errors
from app.contract.storefronts import storefront_operations
from app.identity.authentication.sign_in.workflows.tokens import token_workflows
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.identity.platform.resource_storage.items import Item
from app.identity.public_api.storefronts import multipass, perfectmind, session_calls, stores
from app.identity.public_api.storefronts.bigcommerce import API, BigCommerce
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.resources.resource import Resource

log = logging.getLogger(__name__)

_RATE: Final = Rate(20, 60)
"""Requests of one account: each may spend from the tenant's quota at the other system."""
_NO_NAME: Final = "-"
"""BigCommerce demands a first and a last name."""


@storefront_operations.shopify_login.implements
def shopify_login(context: Context, req: storefront_operations.ShopifySignOn) -> storefront_operations.ShopifyLogin:
    store, account, email = _begin(context, storefront_operations.SHOPIFY, _store_name(req))
    store_url = f"https://{store.content['domain']}"
    return_to = stores.return_address(context, store_url, req.return_url)
    customer = {
        "email": email,
        "created_at": context.now.isoformat(timespec="seconds"),
        "identifier": account.uid,  # two accounts may have had one address, at different times
        "first_name": account.profile.get("FirstName"),
        "last_name": account.profile.get("LastName"),
        "return_to": return_to,
    }
    present = {name: str(value) for name, value in customer.items() if value}
    token = multipass.token(store.secrets["multipass_secret"], present, randomness.random_bytes(16))
    _record(context, account, "shopify", store)
    return storefront_operations.ShopifyLogin(loginUrl=f"{store_url}/account/login/multipass/{token}")


@storefront_operations.bigcommerce_login.implements
def bigcommerce_login(
    context: Context, req: storefront_operations.StoreSignOn
) -> storefront_operations.BigCommerceLogin:
    store, account, email = _begin(context, storefront_operations.BIGCOMMERCE, _store_name(req))
    store_url = str(store.content["store_url"])
    address = stores.return_address(context, store_url, req.return_url)
    redirect_to = stores.path_at(store_url, address) if address else None
    if address and redirect_to is None:
        raise errors.BadParameter("return_url: an address at the store; BigCommerce leads to no other.")
    api = context.services.settings.bigcommerce_url or API
    facts = {name: str(store.content[name]) for name in ("store_hash", "client_id")}
    client = BigCommerce(
        context.services.provider_metadata.resolver, api, store_url=store_url, **facts, **store.secrets
    )
    first, last = (str(account.profile.get(name) or _NO_NAME) for name in ("FirstName", "LastName"))
    context.work.release_connection()
    try:
        customer_id = client.customer_id(email, first, last)
    except ProviderUnavailable as problem:
        log.warning("bigcommerce: %s", problem)
        raise errors.StorefrontFailed from None
    _record(context, account, "bigcommerce", store)
    return storefront_operations.BigCommerceLogin(url=client.login_url(customer_id, redirect_to, context.now))


@storefront_operations.perfectmind_contact.implements
def perfectmind_contact(context: Context, req: storefront_operations.ReadContact) -> storefront_operations.SiteContacts:
    site = stores.find(context, storefront_operations.PERFECTMIND, req.site_name)
    account = accounts.current(context)
    email = stores.store_email(account)
    context.count_against("storefront", _RATE, account.uid)
    url = context.services.settings.perfectmind_url or f"https://{site.content['host']}"
    number, key = str(site.content["client_number"]), site.secrets["access_key"]
    context.work.release_connection()
    try:
        ids = perfectmind.contact_ids(context.services.provider_metadata.resolver, url, number, key, email)
    except ProviderUnavailable as problem:
        log.warning("perfectmind: %s", problem)
        raise errors.BookingSystemFailed from None
    return storefront_operations.SiteContacts(email=email, contact_id=ids)


@storefront_operations.perfectmind_session.implements
def perfectmind_session(context: Context, req: storefront_operations.BeginSession) -> storefront_operations.SiteSession:
    site, account, email = _begin(context, storefront_operations.PERFECTMIND, req.site_name)
    address = site.content.get("session_url")
    if not address:
        raise errors.SessionCallMissing
    origin, development = f"https://{site.content['host']}", context.services.settings.perfectmind_url
    if development:
        address = f"{development}{urlsplit(str(address)).path}"
    try:
        begun = session_calls.begin(context, str(address), req.site_name, account, email)
        whole = stores.return_address(context, origin, begun.url) or ""
    except (ProviderUnavailable, errors.BadParameter) as problem:
        log.warning("perfectmind session: %s", problem)
        raise errors.BookingSystemFailed from None
    _record(context, account, "perfectmind", site)
    return begun.model_copy(update={"url": whole})


def _store_name(req: storefront_operations.StoreSignOn) -> str:
    if req.callback:
        raise errors.BadParameter("callback: leave it out; there is no JSONP.")
    if not req.store:
        raise errors.StoreNameMissing
    return req.store


def _begin(context: Context, resource: Resource, name: str) -> tuple[Item, Account, str]:
    """Return the store or site, the account and its verified address; refuse what every sign-on refuses."""
    store = stores.find(context, resource, name)
    account = accounts.current_for_sign_on(context)
    email = stores.store_email(account)
    context.count_against("storefront", _RATE, account.uid)
    token_workflows.admitted(context, account, context.token_holder.claims)
    return store, account, email


def _record(context: Context, account: Account, plugin: str, store: Item) -> None:
    context.audit.record("storefront.signed_on", uid=account.uid, plugin=plugin, store=store.name)
