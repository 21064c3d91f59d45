"""The rules of LDAP providers, in addition to their declaration, and the operation that tests one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cryptography import x509

from app.contract import errors
from app.contract.federation.oauth_providers import FIELDS
from app.contract.ldap import ldap_operations
from app.contract.ldap.ldap_operations import LdapProvider, LdapTest, LdapTested
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.applications import provider_domains
from app.identity.credentials.ldap import ldap_directories
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SHARED_TABLE
from app.identity.platform.resource_storage.rules import Rules
from app.kit.limits.rate_limits import Rate

_RATE: Final = Rate(30, 60)
"""Tests of a tenant: each holds a thread for five seconds at most, and may try a password."""
_FILTERS: Final = (
    ("user_filter", ldap_operations.LOGIN_PLACE),
    ("group_filter", ldap_operations.MEMBER_PLACE),
)
_NAMES_ATTRIBUTE: Final = re.compile(r"\([^()=]*\{(login|dn)\}")
"""A filter in which what a person typed would name an attribute."""
_FILLABLE: Final = FIELDS.keys() - {"ID", "EmailVerified"}
"""The fields that `DataMap` may fill: `SubjectAttribute` and `TrustsEmail` decide about the others."""


def name_problems(content: LdapProvider, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    for key, place in _FILTERS:
        text = getattr(content, key)
        if place not in text or not _is_balanced(text.replace(place, "x")) or _NAMES_ATTRIBUTE.search(text):
            yield key, f"an LDAP filter with balanced parentheses and {place}, such as (uid={place})"
    if unknown := next((field for field in content.data_map if field not in _FILLABLE), None):
        yield "data_map", f"a field that a directory fills, such as Email or FirstName; found {unknown[:60]}"
    if content.ca_certificates and not _is_pem(content.ca_certificates):
        yield "ca_certificates", "certificates of authorities in PEM"


def _is_balanced(text: str) -> bool:
    """Return whether a filter is one item in parentheses (RFC 4515), without looking into its items."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0 or (depth == 0 and at < len(text) - 1):
            return False
    return depth == 0 and text.startswith("(") and "()" not in text and "\0" not in text


def _is_pem(text: str) -> bool:
    try:
        return bool(x509.load_pem_x509_certificates(text.encode()))
    except ValueError:
        return False


def powers_of(context: Context, item: Item) -> Iterable[Power]:  # noqa: ARG001 - the hook's signature
    """Who names the server gets the passwords that people type, and says who they are."""
    yield Power(ALL, "LDAP providers, which get the passwords that people type")


def check(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Refuse a domain of another provider, and a second provider for usernames. Raises ProviderDomainExists, BadField."""
    provider_domains.refuse_taken(context, ldap_operations.PROVIDERS.file_key, after)
    if context.operation is None or not after.content.get("accepts_usernames"):
        return
    others = SHARED_TABLE.items(StoreAccess.of(context), ldap_operations.PROVIDERS)
    if any(item.content.get("accepts_usernames") and item.name.lower() != after.name.lower() for item in others):
        raise errors.BadField("AcceptsUsernames: false, because another LDAP provider accepts usernames already.")


@ldap_operations.test.implements
def test(context: Context, req: LdapTest) -> LdapTested:
    """Try a provider without storing anything. Turned-off ones, too, because one is tested before it is turned on."""
    from app.identity.credentials.ldap import ldap_trials  # noqa: PLC0415 - loads the LDAP client

    item = SHARED_TABLE.item(StoreAccess.of(context), ldap_operations.PROVIDERS, (req.provider_name,))
    if item is None:
        raise errors.UnknownLdapProvider
    powers.require_powers(context, powers_of(context, item))  # it may guess passwords, which counts for nobody
    context.count_against("ldap test", _RATE)
    tested = ldap_trials.run(context, ldap_directories.directory_of(item), req.login, req.password)
    context.audit.record("ldap_provider.tested", id=item.name, check=tested.check)
    return tested


RULES: Final = {
    ldap_operations.PROVIDERS: Rules(problems=name_problems, powers=powers_of, before_write=check),
}
