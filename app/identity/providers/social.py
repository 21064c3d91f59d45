"""Providers that people sign in with: what they say of somebody."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Claimed:
    """Who somebody is at a provider, as it said so a moment ago."""

    provider: str  # the name of the tenant's connection
    subject: str  # what the provider names them by, for ever
    email: str | None = None
    email_verified: bool = False
    profile: dict[str, str] = field(default_factory=dict)  # members of the interface's profile
