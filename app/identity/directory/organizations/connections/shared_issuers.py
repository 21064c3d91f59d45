"""Issuers at which anyone has an account: no organization runs them, so that none can be believed about its addresses.

A private account keeps an address of a company for good, once it was verified, also after the person left.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from app.contract.federation.connection_completion import well_known_provider
from app.contract.federation.connections import ConnectionSettings

_OF_ORGANIZATIONS: Final = {"": "", "google": "", "microsoft": "", "salesforce": ".my.salesforce.com"}
"""The well-known providers that have accounts of organizations, too, and how the hosts of those end. Google names the organization
in `hd`."""
_FURTHER_HOSTS: Final = frozenset((
    "access.line.me", "discord.com", "gitlab.com", "id.twitch.tv", "id.vk.com", "kauth.kakao.com", "login.live.com",
    "oauth.yandex.com", "slack.com", "token.actions.githubusercontent.com",
))  # fmt: skip
_OF_EVERYONE: Final = ("common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad")
"""The parts of Microsoft's issuers that stand for many directories, or for private accounts."""


def is_shared(issuer: str) -> bool:
    """Return whether accounts at an issuer belong to no organization."""
    address = urlsplit(issuer)
    host, mark = (
        (address.hostname or "").rstrip("."),
        well_known_provider(ConnectionSettings.model_construct(issuer=issuer)),
    )
    if mark not in _OF_ORGANIZATIONS or host in _FURTHER_HOSTS or not host.endswith(_OF_ORGANIZATIONS[mark]):
        return True
    return mark == "microsoft" and address.path.strip("/").partition("/")[0].lower() in _OF_EVERYONE
