"""A tenant with a connection to one of the built-in providers, or to one of its own, which a local server plays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.chinese_upstreams import QQUpstream, WeChatUpstream, WeiboUpstream
from tests.support.fakes.custom_upstreams import CUSTOM_OPENID, CustomOAuthUpstream
from tests.support.fakes.identity_provider import SECRET, FakeProvider
from tests.support.fakes.openid_upstreams import OPENID_UPSTREAMS, OpenIdUpstream
from tests.support.fakes.social_upstreams import (
    AmazonUpstream,
    FacebookUpstream,
    FoursquareUpstream,
    GitHubUpstream,
    PayPalUpstream,
    SocialUpstream,
    XUpstream,
)
from tests.support.operations.resource_samples import private_key

OAUTH_UPSTREAMS: dict[str, type[SocialUpstream]] = {
    kind.name: kind
    for kind in (
        GitHubUpstream, FacebookUpstream, XUpstream, AmazonUpstream, PayPalUpstream, FoursquareUpstream, WeChatUpstream, QQUpstream,
        WeiboUpstream,
    )
}  # fmt: skip
ALL = (*OPENID_UPSTREAMS, *OAUTH_UPSTREAMS)
"""The built-in providers."""
CUSTOM = (CUSTOM_OPENID.name, CustomOAuthUpstream.name)
"""A tenant's own."""


@dataclass
class ConnectedProvider:
    """A provider and the tenant's connection to it."""

    name: str
    fake: FakeProvider
    upstream: SocialUpstream | OpenIdUpstream
    connection: dict[str, Any]
    private_key: str = ""

    @property
    def is_openid(self) -> bool:
        return isinstance(self.upstream, OpenIdUpstream)

    @property
    def subject(self) -> str:
        """What the provider names the person."""
        if self.name == "salesforce":
            return "https://login.salesforce.com/id/00D/005"
        return "ada-1815" if self.is_openid else "1815"

    def signs_in(self, address: str, **who: Any) -> dict[str, str]:
        """Sign in at the provider, by default as Ada, and return the parameters of the callback."""
        if isinstance(self.upstream, OpenIdUpstream):
            return self.upstream.signs_in(self.fake, address, **who)
        return self.upstream.signs_in(address, **who)

    def callback(self, address: str, **who: Any) -> str:
        """Sign in and return the URL of the callback, below the tenant's host."""
        return f"/socialauth/validate.sauth?{urlencode(self.signs_in(address, **who))}"

    def store(self, tenant: Any, *names: str) -> None:
        """Store the connection at a tenant, under its provider's name or these, with the client secret."""
        self.private_key = private_key() if self.name == "apple" else ""
        secrets = dict.fromkeys(names or (self.name,), SECRET)
        keys = {f"{name}.apple": self.private_key for name in secrets if self.private_key}
        store_service_secrets(tenant, connections={**secrets, **keys})
        tenant.change_settings(connections=dict.fromkeys(secrets, self.connection))


def connected(name: str, fake: FakeProvider, **settings: Any) -> ConnectedProvider:
    """Start a built-in or a custom provider."""
    if name == CUSTOM_OPENID.name:
        own = CUSTOM_OPENID.start(fake)
        return ConnectedProvider(name, fake, CUSTOM_OPENID, {**own, "preset": None, **settings})
    if name == CustomOAuthUpstream.name:
        custom = CustomOAuthUpstream(fake)
        return ConnectedProvider(name, fake, custom, custom.connection(**settings))
    if name in OPENID_UPSTREAMS:
        upstream = OPENID_UPSTREAMS[name]
        return ConnectedProvider(name, fake, upstream, {**upstream.start(fake), **settings})
    started = OAUTH_UPSTREAMS[name](fake)
    return ConnectedProvider(name, fake, started, started.connection(**settings))
