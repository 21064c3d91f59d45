"""The sign-in methods that organizations allow their members (decision 0195)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, get_args

from app.contract import errors
from app.contract.organizations.models import Policies
from app.contract.organizations.settings import SignInMethod
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context

if TYPE_CHECKING:
    from app.identity.directory.organizations.connections.organization_connection_store import (
        OrganizationConnectionRecord,
    )

PASSWORD: Final = "password"
PASSKEY: Final = "passkey"
EMAIL: Final = "email"
SMS: Final = "sms"
CONNECTION: Final = "connection"
PIN: Final = "pin"
METHODS: Final[tuple[str, ...]] = get_args(SignInMethod)


@dataclass(frozen=True)
class AllowedMethods:
    """The methods that an account may sign in with, and the organizations that limit them, each with its own methods."""

    methods: tuple[str, ...]
    by_organization: tuple[tuple[str, str, frozenset[str]], ...]
    """Id, display name and allowed methods, by name."""
    connections: tuple[OrganizationConnectionRecord, ...] = ()
    """The connections of organizations that allow `connection` and have one of their own: no other provider counts then."""

    def accepts(self, method: str, provider: str) -> bool:
        """Return whether a method, and the connection of a sign-in at a provider, are allowed."""
        is_own = not self.connections or provider in {item.connection_id for item in self.connections}
        return method in self.methods and (method != CONNECTION or is_own)

    def within(self, org_id: str) -> AllowedMethods | None:
        """Return the limits of one organization alone; None where it sets none."""
        limits = tuple(limit for limit in self.by_organization if limit[0] == org_id)
        methods = tuple(method for method in METHODS if limits and method in limits[0][2])
        own = tuple(item for item in self.connections if item.org_id == org_id)
        return AllowedMethods(methods, limits, own) if limits else None

    def refusing(self, method: str) -> tuple[str, str]:
        """Return id and display name of the first organization that does not accept a method."""
        own = [item.org_id for item in self.connections]
        return next(
            (org_id, name)
            for org_id, name, methods in self.by_organization
            if method not in methods or (method == CONNECTION and org_id in own)
        )


def offered(settings: TenantSettings) -> frozenset[str]:
    """Return the methods that the tenant offers to every account."""
    is_offered = {
        PASSWORD: True,
        PASSKEY: settings.passkeys,
        EMAIL: settings.passwordless_email or settings.one_touch or settings.smart_login,
        SMS: settings.phone_login and (settings.passwordless_sms or settings.one_touch),
        CONNECTION: any(connection.is_active for connection in settings.connections.values()),
        PIN: settings.pin.is_on and settings.pin.login,
    }
    return frozenset(method for method, is_on in is_offered.items() if is_on)


def check(settings: TenantSettings, methods: Collection[str], *, has_connection: bool) -> None:
    """Refuse methods that would leave members without a way to sign in.

    Args:
        has_connection: whether people can sign in by a connection of the organization.

    Raises BadField: the tenant does not offer a method, or a PIN alone is allowed, which only renews a session.
    """
    on = offered(settings) | ({CONNECTION} if has_connection else frozenset())
    if missing := [method for method in methods if method not in on]:
        raise errors.BadField(
            f"The MethodPolicy.AllowedMethods is not accepted: the tenant does not offer {missing[0]}."
        )
    if set(methods) == {PIN}:
        raise errors.BadField("The MethodPolicy.AllowedMethods is not accepted: a PIN only renews a session.")


def accepted(settings: TenantSettings, policies: Policies, *, has_connection: bool) -> frozenset[str]:
    """Return the methods that an organization accepts of its members now; empty where it limits none.

    A policy waits while the tenant offers none of its methods.

    Args:
        has_connection: as above.
    """
    on = offered(settings) | ({CONNECTION} if has_connection else frozenset())
    limit = frozenset(policies.method_policy.allowed_methods or ()) & on
    return limit if limit - {PIN} else frozenset()


def demands_connection(settings: TenantSettings, policies: Policies) -> bool:
    """Return whether an organization with a connection that signs people in accepts nothing else of its members."""
    return accepted(settings, policies, has_connection=True) - {PIN} == {CONNECTION}


def of_account(context: Context, account: Account) -> AllowedMethods | None:
    """Return the methods that the account's active organizations allow; None where none limits them.

    Several organizations limit them to what all of them allow; where that is nothing, to what any of them allows.
    """
    if not (policies := active_policies.active(context, account)):
        return None
    own = _own_connections(context, policies)
    with_own, settings = {item.org_id for item in own}, context.tenant.settings
    limits = [
        (policy.org_id, policy.name, methods)
        for policy in policies
        if (methods := accepted(settings, policy.policies, has_connection=policy.org_id in with_own))
    ]
    if not limits:
        return None
    sets = [methods for _, _, methods in limits]
    common = frozenset.intersection(*sets)
    left = common if common - {PIN} else frozenset.union(*sets)
    return AllowedMethods(tuple(method for method in METHODS if method in left), tuple(limits), own)


def _own_connections(
    context: Context, policies: Collection[active_policies.ActivePolicy]
) -> tuple[OrganizationConnectionRecord, ...]:
    """Return the connections of the organizations that allow `connection`; one statement, and none where no organization does."""
    org_ids = [
        policy.org_id for policy in policies if CONNECTION in (policy.policies.method_policy.allowed_methods or ())
    ]
    if not org_ids:
        return ()
    from app.identity.directory.organizations.connections import sign_in_connections  # noqa: PLC0415 - few require it

    return tuple(sign_in_connections.of_organizations(context, org_ids))
