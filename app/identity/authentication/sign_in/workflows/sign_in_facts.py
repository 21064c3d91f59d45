"""The facts of a sign-in that conditions of workflows compare; each is read when a condition first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.identity.authentication.sign_in import allowed_methods, risks
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import passkey_store
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import AccountFactors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, sign_in_methods
from app.identity.directory.organizations.memberships import memberships
from app.identity.directory.organizations.organization_names import ORGANIZATION
from app.identity.platform.context import Context
from app.kit.caching.cached_attribute import cached_attribute

_IDENTIFIER_KINDS: Final = ("email", "username", "phone")


@dataclass(frozen=True)
class SignInMoment:
    """An account that signs in: who, how, for what."""

    context: Context
    account: Account
    authentication: Authentication
    target: SignInTarget
    is_registration: bool = False
    is_refresh: bool = False

    @cached_attribute
    def method(self) -> str | None:
        """The first factor; None for tokens that none began, such as those of a server."""
        try:
            return allowed_methods.method_of(self.authentication.methods)
        except ValueError:
            return None

    @property
    def is_two_factor(self) -> bool:
        return MFA in self.authentication.methods

    @cached_attribute
    def new_signals(self) -> frozenset[str]:
        """The risk signals that are new for the account."""
        return frozenset() if self.is_refresh else frozenset(risks.new_signals(self.context, self.account))

    @cached_attribute
    def credentials(self) -> tuple[Credential, ...]:
        return tuple(credential_store.by_account(self.context, self.account.uid))

    @property
    def methods(self) -> list[str]:
        return [name for name in (self.method, MFA if self.is_two_factor else None) if name]

    @property
    def provider(self) -> str | None:
        """The connection of a sign-in by an identity provider."""
        if self.method != sign_in_methods.CONNECTION:
            return None
        kind = self.authentication.kind
        return (kind if kind not in _IDENTIFIER_KINDS else self.target.provider) or None

    @property
    def has_second_factor(self) -> bool:
        factors = AccountFactors(self.account, self.credentials)
        return bool(second_factors.enrolled_kinds(self.context.tenant.settings, factors))


class SignInFacts(Mapping[str, object]):
    """The facts by name; one that is unknown has the value None."""

    def __init__(self, moment: SignInMoment) -> None:
        self._moment = moment

    def __getitem__(self, name: str) -> object:
        return _READ[name](self._moment)

    def __iter__(self) -> Iterator[str]:
        return iter(_READ)

    def __len__(self) -> int:
        return len(_READ)


def _email_domain(moment: SignInMoment) -> str | None:
    return (moment.account.email or "").rpartition("@")[2].lower() or None


def _country(moment: SignInMoment) -> Any:
    country: Any = moment.account.profile.get("Country")
    return country.get("Code") if isinstance(country, dict) else country


def _organization_id(moment: SignInMoment) -> str | None:
    """Return the organization that was chosen, or that the request names and the account belongs to."""
    request, account = moment.target.request, moment.account
    if request.get("org_id") and request.get("org_uid") == account.uid:
        return str(request["org_id"])
    if not (named := str(request.get("organization") or "")):
        return None
    find = memberships.in_organization if organization_names.is_id(ORGANIZATION, named) else memberships.in_named
    membership = find(moment.context, account, named)
    return membership.organization.org_id if membership is not None else None


def _is_new(signal: str) -> Callable[[SignInMoment], bool]:
    return lambda moment: signal in moment.new_signals


_READ: Final[Mapping[str, Callable[[SignInMoment], object]]] = {
    "account.uid": lambda moment: moment.account.uid,
    "account.email": lambda moment: (moment.account.email or "").lower() or None,
    "account.email_domain": _email_domain,
    "account.country": _country,
    "account.roles": lambda moment: moment.account.roles or [],
    "account.is_email_verified": lambda moment: moment.account.email_verified,
    "account.is_phone_verified": lambda moment: moment.account.phone_verified,
    "account.created_days_ago": lambda moment: (moment.context.now - moment.account.created_at).days,
    "account.logins": lambda moment: moment.account.logins,
    "account.has_password": lambda moment: moment.account.password_hash is not None,
    "account.has_passkey": lambda moment: bool(passkey_store.passkeys_among(moment.credentials)),
    "account.has_second_factor": lambda moment: moment.has_second_factor,
    "sign_in.methods": lambda moment: moment.methods,
    "sign_in.provider": lambda moment: moment.provider,
    "sign_in.is_registration": lambda moment: moment.is_registration,
    "sign_in.is_refresh": lambda moment: moment.is_refresh,
    **{f"sign_in.is_new_{signal}": _is_new(signal) for signal in ("device", "browser", "city", "country", "ip")},
    "request.ip": lambda moment: moment.context.ip_address,
    "request.country": lambda moment: moment.context.services.locations.place_of(moment.context.ip_address).country,
    "request.client_id": lambda moment: moment.target.client.client_id if moment.target.client else None,
    "request.application": lambda moment: moment.target.client.name if moment.target.client else None,
    "request.scopes": lambda moment: list(moment.target.request.get("scope") or ()),
    "request.language": lambda moment: moment.context.visit.language if moment.context.visit else None,
    "request.hour_utc": lambda moment: moment.context.now.hour,
    "organization.id": _organization_id,
}
