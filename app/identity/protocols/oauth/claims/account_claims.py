"""Claims of an account (OpenID Connect Core sections 5.1, 5.3 and 5.4), and the userinfo endpoint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from app.contract.applications.client_protocol import ClientProtocol
from app.contract.oauth.oauth_errors import InsufficientScope, InvalidToken
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context, TokenHolder
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import issuers
from app.identity.protocols.oauth.claims import (
    mapped_claims,
    organization_claims,
    requested_values,
    role_claims,
    subjects,
)
from app.kit.operations.wire import Document

Profile = Mapping[str, Any]
_PICTURES = ("ImageUrl", "HttpsImageUrl", "GravatarImageUrl", "ThumbnailImageUrl")


def _member(name: str) -> Callable[[Profile], Any]:
    return lambda profile: profile.get(name) or None


def _email(profile: Profile) -> Any:
    emails = profile.get("Email") or []
    return emails[0].get("Value") if emails else None


def _picture(profile: Profile) -> Any:
    return next((profile[name] for name in _PICTURES if profile.get(name)), None)


def _updated_at(profile: Profile) -> int | None:
    """Return when a claim last changed (section 5.1); each sign-in moves `ModifiedDate`."""
    text = profile.get("ProfileModifiedDate") or profile.get("CreatedDate")
    return int(datetime.fromisoformat(text).timestamp()) if text else None


def _birthdate(profile: Profile) -> str | None:
    """Return the day as ISO 8601; the profile stores it month first."""
    text = profile.get("BirthDate") or ""
    for form in ("%m-%d-%Y", "%m/%d/%Y", "%Y-%m-%d") if text else ():
        try:
            return datetime.strptime(text, form).strftime("%Y-%m-%d")  # noqa: DTZ007  a day has no zone
        except ValueError:
            continue
    return None


def _address(profile: Profile) -> dict[str, str] | None:
    addresses = profile.get("Addresses") or []
    first = addresses[0] if addresses else {}
    members = {
        "street_address": first.get("Address1"),
        "locality": first.get("City"),
        "region": first.get("Region") or first.get("State"),
        "postal_code": first.get("PostalCode"),
        "country": first.get("Country"),
    }
    return {name: value for name, value in members.items() if value} or None


SCOPES: Mapping[str, Mapping[str, Callable[[Profile], Any]]] = {
    "email": {
        "email": _email,
        "email_verified": lambda profile: bool(profile.get("EmailVerified")) if _email(profile) else None,
    },
    "phone": {
        "phone_number": _member("PhoneId"),
        "phone_number_verified": lambda profile: (
            bool(profile.get("PhoneIdVerified")) if profile.get("PhoneId") else None
        ),
    },
    "profile": {
        "name": _member("FullName"),
        "family_name": _member("LastName"),
        "given_name": _member("FirstName"),
        "middle_name": _member("MiddleName"),
        "nickname": _member("NickName"),
        "preferred_username": _member("UserName"),
        "profile": _member("ProfileUrl"),
        "picture": _picture,
        "website": _member("Website"),
        "gender": _member("Gender"),
        "birthdate": _birthdate,
        "zoneinfo": _member("TimeZone"),
        "locale": _member("LocalLanguage"),
        "updated_at": _updated_at,
    },
    "address": {"address": _address},
}
CLAIMS_OF_SCOPES: Mapping[str, tuple[str, ...]] = {
    **{scope: tuple(members) for scope, members in SCOPES.items()},
    **role_claims.SCOPES,
}
_BY_NAME = {name: read for members in SCOPES.values() for name, read in members.items()}


def names(scopes: Iterable[str]) -> list[str]:
    """Return the claims of these scopes."""
    return [name for scope in scopes for name in CLAIMS_OF_SCOPES.get(scope, ())]


def scopes_of(requested: Iterable[str]) -> list[str]:
    """Return the scopes that have one of these claims."""
    names = frozenset(requested)
    return [scope for scope, members in CLAIMS_OF_SCOPES.items() if not names.isdisjoint(members)]


def registered(client: Application, requested: Iterable[str]) -> list[str]:
    """Return the claims of these for which the client is registered now."""
    allowed = frozenset(names(client.scopes))
    return [name for name in requested if name in allowed]


def withheld(scopes: Iterable[str], requested: Iterable[str] = ()) -> set[str]:
    """Return the claims of all other scopes, except those that the `claims` parameter requested."""
    granted = frozenset(scopes)
    return set(names(scope for scope in CLAIMS_OF_SCOPES if scope not in granted)).difference(requested)


def of(profile: Profile, requested: Iterable[str]) -> dict[str, Any]:
    """Return the wanted claims that the profile has; `role_claims` reads the others."""
    read = {name: _BY_NAME[name](profile) for name in requested if name in _BY_NAME}
    return {name: value for name, value in read.items() if value is not None}


def userinfo(context: Context, app: str | None) -> Document:
    """Return the userinfo response (section 5.3): the claims of the token's scope and of `claims`, as a JWT if the client wants one.

    Raises:
        InvalidToken: the address names another application, or the application or the account is inactive.
        InsufficientScope: the token lacks the scope `openid`.
    """
    holder = context.token_holder
    client = context.application(client_id=holder.client_id) if holder.client_id else None
    scopes = holder.scope.split()
    if holder.client_id and (client is None or not client.settings.is_active):
        raise InvalidToken
    if client is None or "openid" not in scopes:
        raise InsufficientScope
    named = issuers.of_application(context, client) if app is not None else None
    if named is not None and (str(app).lower(), ClientProtocol.OPENID) != (client.issuer_name.lower(), named.protocol):
        raise InvalidToken
    account = accounts.of_token(context)
    if account is None or not account.is_active or account.is_deleted:
        raise InvalidToken
    scopes = [scope for scope in scopes if scope in client.scopes]  # the scopes that the client has now (decision 0331)
    requested = registered(client, holder.claims.userinfo_claims or ())
    mapping = client.settings.claims_mapping.userinfo
    payload = {
        **holder.claims.added,
        **of(profile_document.claimable_of(account), [*names(scopes), *requested]),
        **(mapped_claims.read(account, mapping, withheld(scopes, requested)) if mapping else {}),
        **role_claims.read(context, account, role_claims.names(client, scopes, requested)),
    }
    payload = requested_values.matching(payload, holder.claims.userinfo_values)
    payload.update(organization_claims.read(_membership(context, holder), client, scopes))
    payload["sub"] = subjects.of(context, client, account.uid)
    algorithm = client.settings.userinfo_algorithm
    if algorithm is not None:
        issuer = named or issuers.tenant_wide(context)
        signed = {**payload, "iss": issuer.url, "aud": client.client_id}
        text = context.services.signing_keys.sign(context.work, signed, algorithm=algorithm)
        return Document(text.encode(), "application/jwt")
    return Document(to_json(_known(payload)))


def _known(value: Any) -> Any:
    """Return a JSON value without members that are null, as all responses of OAuth."""
    if isinstance(value, dict):
        return {
            name: _known(item) if isinstance(item, dict | list) else item
            for name, item in value.items()
            if item is not None
        }
    return [_known(item) for item in value] if isinstance(value, list) else value


def _membership(context: Context, holder: TokenHolder) -> Membership | None:
    return organization_claims.membership_of(context, holder.uid, holder.claims.org_id)
