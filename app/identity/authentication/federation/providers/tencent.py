"""WeChat and QQ: OAuth 2.0 with names, errors and subjects of their own. Their app-scoped `openid` identifies a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from app.contract.federation.connections import ConnectionSettings
from app.identity.directory.identity_provider import ProviderIdentity, identity_from_claims
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver


@dataclass(frozen=True)
class TencentProvider:
    """A tenant's client at WeChat or QQ. Every request is a GET; an error is a 200 with a code."""

    name: str
    settings: ConnectionSettings
    secret: str = field(repr=False)
    resolver: Resolver

    def redeem_wechat_code(self, code: str) -> ProviderIdentity:
        """Return the identity of a code (open platform, "mobile app login"). Raises ProviderUnavailable."""
        credentials = {"appid": self.settings.key, "secret": self._secret()}
        token = self._get(
            self.settings.token_endpoint, {**credentials, "code": code, "grant_type": "authorization_code"}
        )
        subject = {"access_token": _text(token, "access_token"), "openid": _text(token, "openid")}
        profile = self._get(self.settings.userinfo_endpoint, subject)
        if profile.get("openid") != subject["openid"]:
            raise ProviderUnavailable("userinfo is about another subject")
        return identity_from_claims(self.name, self.settings.names, profile)

    def redeem_qq_code(self, code: str, redirect_uri: str) -> ProviderIdentity:
        """Return the identity of a code (QQ Connect, "Authorization_Code"). Raises ProviderUnavailable."""
        exchange = {
            "grant_type": "authorization_code", "client_id": self.settings.key, "client_secret": self._secret(), "code": code,
            "redirect_uri": redirect_uri, "fmt": "json",
        }  # fmt: skip
        access_token = _text(self._get(self.settings.token_endpoint, exchange), "access_token")
        token = {"access_token": access_token, "fmt": "json"}
        subject = self._get(self.settings.introspection_endpoint, token)
        if str(subject.get("client_id")) != self.settings.key:
            raise ProviderUnavailable("the access token is not for this client", error="invalid_token")
        openid = _text(subject, "openid")
        profile = self._get(
            self.settings.userinfo_endpoint, {**token, "oauth_consumer_key": self.settings.key, "openid": openid}
        )
        return identity_from_claims(self.name, self.settings.names, {**profile, "openid": openid})

    def _secret(self) -> str:
        if not self.secret:
            raise ProviderUnavailable("without a client secret a code proves nothing")
        return self.secret

    def _get(self, address: str | None, query: Mapping[str, str]) -> dict[str, Any]:
        if not address:
            raise ProviderUnavailable("the connection lacks an address")
        members = outbound_http.get_json_object(self.resolver, f"{address}?{urlencode(query)}")
        refusal = next((members[name] for name in ("errcode", "error", "ret") if members.get(name)), None)
        if refusal is not None:
            raise ProviderUnavailable(f"it answered {str(refusal)[:40]!r}", error=str(refusal)[:40])
        return members


def _text(members: Mapping[str, Any], name: str) -> str:
    text = members.get(name)
    if not isinstance(text, str) or not text:
        raise ProviderUnavailable(f"it gave no {name}")
    return text
