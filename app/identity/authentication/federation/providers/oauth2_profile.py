"""Reads the profile of an access token at an OAuth 2.0 provider, as the provider's quirks say."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.federation.connection_completion import quirks_of
from app.contract.federation.connections import ACCESS_TOKEN, ID_TOKEN, ConnectionSettings
from app.contract.federation.provider_presets import ListedEmails, ProviderQuirks
from app.identity.authentication.federation.providers import provider_answers
from app.identity.authentication.federation.providers.provider_answers import with_query
from app.identity.directory.identity_provider import ProfileUnsupported
from app.identity.platform.outbound import outbound_http
from app.identity.platform.outbound.findings import checking, kind_of_value
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from app.kit.outbound.host_resolver import Resolver

_EMAILS: Final = "a JSON list of email addresses"
_LIST: Final = ListedEmails("", "email", "verified")
"""The entries of an `emails_endpoint`, which are GitHub's."""


def read_claims(
    resolver: Resolver,
    settings: ConnectionSettings,
    secret: str,
    access_token: str,
    token: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the claims of an access token.

    Args:
        token: the token response that it came with; None for a token of an earlier sign-in, or of an app.

    Raises:
        ProfileUnsupported: the token alone is not enough for this provider.
        ProviderUnavailable.
    """
    quirks = quirks_of(settings)
    members = _token_members(resolver, settings, quirks, access_token, token)
    fill = _Placeholders(access_token, token).fill
    headers = fill(quirks.profile_headers)
    query = {
        **fill(quirks.profile_parameters),
        **{name: _text(members, member) for name, member in quirks.profile_from_token.items()},
        **({quirks.profile_client_name: settings.key} if quirks.profile_client_name else {}),
        **_access_token(quirks, access_token, secret),
    }
    bearer = None if quirks.token_name or _has_access_token(quirks) else access_token
    address = with_query(settings.userinfo_endpoint or "", query)
    claims = provider_answers.get_members(resolver, address, quirks, bearer, headers)
    _refuse_another_subject(quirks, members, claims)
    claims |= {name: members[name] for name in quirks.adds_from_token if name in members}
    return claims | _email(resolver, settings, quirks, access_token, claims)


@dataclass(frozen=True)
class _Placeholders:
    """The tokens of a sign-in that placeholders in parameters and headers stand for."""

    access_token: str
    response: Mapping[str, Any] | None
    """The token response; None for a token of an earlier sign-in."""

    def fill(self, templates: Mapping[str, str]) -> dict[str, str]:
        """Return the values with their tokens. Raises ProfileUnsupported, ProviderUnavailable."""
        return {name: self._filled(template) for name, template in templates.items()}

    def _filled(self, template: str) -> str:
        text = template.replace(ACCESS_TOKEN, self.access_token)
        if ID_TOKEN not in text:
            return text
        if self.response is None:
            raise ProfileUnsupported
        id_token = self.response.get("id_token")
        if not (isinstance(id_token, str) and id_token.isascii() and id_token.isprintable()):
            received = f"id_token: {kind_of_value(id_token)}"
            raise ProviderUnavailable("it gave no id_token", expected="id_token: printable text", received=received)
        return text.replace(ID_TOKEN, id_token)


def _has_access_token(quirks: ProviderQuirks) -> bool:
    """Return whether a parameter or a header has the access token, which is then no bearer token, too (RFC 6750 section 2)."""
    return any(ACCESS_TOKEN in text for text in (*quirks.profile_parameters.values(), *quirks.profile_headers.values()))


def _token_members(
    resolver: Resolver,
    settings: ConnectionSettings,
    quirks: ProviderQuirks,
    access_token: str,
    token: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the members of the token response, with those that the provider tells about the access token."""
    if token is None and not quirks.reads_profile_again:
        raise ProfileUnsupported
    members = dict(token or {})
    if quirks.identifies_token == "GET" or (quirks.identifies_token and token is None):
        members |= _identified(resolver, settings, quirks, access_token)
    return members


def _identified(
    resolver: Resolver, settings: ConnectionSettings, quirks: ProviderQuirks, access_token: str
) -> dict[str, Any]:
    """Return what the provider tells about an access token of this client. Raises ProviderUnavailable for another client's."""
    address = settings.introspection_endpoint
    if not address:
        text = "the connection has no introspection_endpoint, which the provider needs"
        raise ProviderUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="introspection_endpoint")
    query = {**quirks.identifying_parameters, "access_token": access_token}
    with checking(ConnectionCheck.INTROSPECTION, access_token):
        if quirks.identifies_token == "GET":
            members = provider_answers.get_members(resolver, with_query(address, query), quirks)
        else:
            members = provider_answers.post_members(resolver, address, query, quirks)
    if str(members.get(quirks.identified_client)) != settings.key:
        raise ProviderUnavailable(
            "the access token is not for this client",
            error="invalid_token",
            check=ConnectionCheck.INTROSPECTION,
            expected=f"{quirks.identified_client}: {settings.key}",
            received=members.get(quirks.identified_client),
        )
    return members


def _access_token(quirks: ProviderQuirks, access_token: str, secret: str) -> dict[str, str]:
    """Return the parameters that carry or prove the access token."""
    query = {quirks.token_name: access_token} if quirks.token_name else {}
    if quirks.proves_secret and secret:
        query["appsecret_proof"] = hmac.digest(secret.encode(), access_token.encode(), "sha256").hex()
    return query


def _refuse_another_subject(quirks: ProviderQuirks, token: Mapping[str, Any], claims: Mapping[str, Any]) -> None:
    for member, claim in quirks.same_in_token.items():
        if member in token and str(token[member]) != str(claims.get(claim)):
            raise ProviderUnavailable(
                "the profile is about another subject",
                expected=f"{claim}: the {member} of the token response",
                received=f"another {claim}, {kind_of_value(claims.get(claim))}",
            )


def _email(
    resolver: Resolver,
    settings: ConnectionSettings,
    quirks: ProviderQuirks,
    access_token: str,
    claims: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the claims of the address, where the profile has them in another form."""
    names = settings.names
    if settings.emails_endpoint:
        with checking(ConnectionCheck.EMAILS, access_token):
            listed = outbound_http.get_json(resolver, settings.emails_endpoint, access_token, expected=_EMAILS)
        return _primary(listed, names, _LIST)
    if quirks.emails is not None:
        return _primary(claims.get(quirks.emails.list), names, quirks.emails)
    return {names["email_verified"]: True} if quirks.email_is_verified else {}


def _primary(listed: Any, names: Mapping[str, str], where: ListedEmails) -> dict[str, Any]:
    """Return the claims of the primary address in a list."""
    entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    primary: dict[str, Any] = next((entry for entry in entries if entry.get("primary") is True), {})
    return {names["email"]: primary.get(where.address), names["email_verified"]: primary.get(where.verified)}


def _text(members: Mapping[str, Any], name: str) -> str:
    text = members.get(name)
    if isinstance(text, bool) or not isinstance(text, str | int) or not str(text):
        received = f"{name}: {kind_of_value(text)}"
        raise ProviderUnavailable(f"it gave no {name}", expected=f"{name}: text or a whole number", received=received)
    return str(text)
