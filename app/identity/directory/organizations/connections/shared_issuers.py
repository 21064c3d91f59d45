"""Issuers at which anyone can have an account: no organization runs them, so they prove nothing about an organization's addresses.

A private account there keeps a company's address that it once verified, even after the person has left the company.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from app.contract.federation.connection_completion import well_known_provider
from app.contract.federation.connections import ConnectionSettings

_OF_ORGANIZATIONS: Final = {"": "", "google": "", "microsoft": "", "salesforce": ".my.salesforce.com"}
"""The marks of providers that also have accounts of organizations, and how the hosts of those accounts end. Google names the
organization in `hd`."""
_FURTHER_HOSTS: Final = frozenset((
    "access.line.me", "discord.com", "gitlab.com", "id.twitch.tv", "id.vk.com", "kauth.kakao.com", "login.live.com",
    "oauth.yandex.com", "slack.com", "token.actions.githubusercontent.com",
))  # fmt: skip
_OF_EVERYONE: Final = ("common", "organizations", "consumers", "9188040d-6c67-4c5b-b112-36a304b66dad")
"""What Microsoft's issuers have in place of a directory's ID for many directories, or for private accounts."""


def is_shared(issuer: str) -> bool:
    """Return whether accounts at an issuer belong to no organization."""
    address, mark = urlsplit(issuer), well_known_provider(ConnectionSettings.model_construct(issuer=issuer))
    host = (address.hostname or "").rstrip(".")
    if mark not in _OF_ORGANIZATIONS or host in _FURTHER_HOSTS or not host.endswith(_OF_ORGANIZATIONS[mark]):
        return True
    return mark == "microsoft" and address.path.strip("/").partition("/")[0].lower() in _OF_EVERYONE
