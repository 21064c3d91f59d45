"""The facts of a sign-in that conditions of workflows compare; each is read when a condition first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Protocol

from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget
from app.identity.credentials.passkeys import passkey_store
from app.identity.platform.context import Context


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


class Visited(Protocol):
    """What a visit is for."""

    @property
    def context(self) -> Context: ...

    @property
    def target(self) -> SignInTarget: ...


class RequestFacts(Mapping[str, object]):
    """The facts about the request alone, by name, of a visitor who has not signed in."""

    def __init__(self, context: Context, target: SignInTarget) -> None:
        self.context, self.target = context, target

    def __getitem__(self, name: str) -> object:
        return _OF_REQUEST[name](self)

    def __iter__(self) -> Iterator[str]:
        return iter(_OF_REQUEST)

    def __len__(self) -> int:
        return len(_OF_REQUEST)


def _email_domain(moment: SignInMoment) -> str | None:
    return (moment.account.email or "").rpartition("@")[2].lower() or None


def _country(moment: SignInMoment) -> Any:
    country: Any = moment.account.profile.get("Country")
    return country.get("Code") if isinstance(country, dict) else country


def _is_new(signal: str) -> Callable[[SignInMoment], bool]:
    return lambda moment: signal in moment.new_signals


_OF_REQUEST: Final[Mapping[str, Callable[[Visited], object]]] = {
    "request.ip": lambda visited: visited.context.ip_address,
    "request.country": lambda visited: visited.context.services.locations.place_of(visited.context.ip_address).country,
    "request.client_id": lambda visited: visited.target.client.client_id if visited.target.client else None,
    "request.application": lambda visited: visited.target.client.name if visited.target.client else None,
    "request.scopes": lambda visited: list(visited.target.scopes),
    "request.language": lambda visited: visited.context.visit.language if visited.context.visit else None,
    "request.hour_utc": lambda visited: visited.context.now.hour,
}
"""What is known before anybody has signed in."""
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
    **_OF_REQUEST,
    "organization.id": lambda moment: moment.organization_id,
}
