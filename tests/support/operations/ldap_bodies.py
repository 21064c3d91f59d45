"""Bodies of requests about LDAP providers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Sample = TypeVar("Sample")


def provider(number: int) -> dict[str, Any]:
    return {**changed(number), "ProviderName": f"corp{number}", "BindPassword": f"secret {number}"}


def changed(number: int) -> dict[str, Any]:
    return {"ServerUrl": f"ldaps://directory{number}.example", "BaseDn": "dc=example"}


def sample(of: Callable[..., Sample]) -> Sample:
    """Return the sample of the resource."""
    malformed = ({**provider(1), "ServerUrl": "http://directory.example"}, "ServerUrl")
    return of(item=provider, change=changed, key={"ldapApp": "ProviderName"}, malformed=malformed)
