"""Finds people in a directory, checks their passwords there and changes them: the conversations of sign-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from app.contract.federation.connection_checks import ConnectionCheck
from app.contract.ldap.ldap_operations import LdapProvider
from app.identity.credentials.ldap.conversation_slots import ConversationSlots
from app.identity.credentials.ldap.ldap_directories import DirectoryLogin, LdapDirectory
from app.identity.directory.identity_provider import MAX_SUBJECT_LENGTH, ProviderIdentity
from app.identity.platform.context import Context
from app.identity.platform.ldap import ldap_client
from app.identity.platform.ldap.ldap_entry import STATE_ATTRIBUTES, LdapEntry
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable, PasswordProblem, PasswordRefused
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.outbound.deadlines import Deadline

if TYPE_CHECKING:
    from app.identity.platform.ldap.ldap_connection import LdapConnection

SECONDS: Final = 5.0
"""For a whole conversation, as long as a person waits for a page."""
_MAX_LENGTH: Final = 500
_MAX_EMAIL_LENGTH: Final = 320
_NOBODY: Final = "cn=nobody of this name"
"""The bind of a login that no entry has, so that the server is asked as often as for one that has."""
_NOT_IN_PROFILE: Final = frozenset({"ID", "Email", "EmailVerified"})
_SLOTS: Final = ConversationSlots(8)


@dataclass(frozen=True)
class LdapPerson:
    """A person in a directory."""

    entry: LdapEntry
    identity: ProviderIdentity


def attributes_of(provider: LdapProvider) -> list[str]:
    """Return the attributes that a search reads."""
    named = (provider.subject_attribute, *provider.data_map.values(), provider.group_attribute, *STATE_ATTRIBUTES)
    return list(dict.fromkeys(name for name in named if name))


@contextmanager
def conversation(context: Context, directory: LdapDirectory) -> Iterator[LdapConnection]:
    """Talk to a directory as its service account, without a database connection. Raises LdapUnavailable.

    A directory that hangs holds few threads: a conversation beyond those is refused at once.
    """
    context.work.release_connection()
    provider, resolver = directory.provider, context.services.provider_metadata.resolver
    try:
        server = LdapServer.of(provider.server_url, provider.ca_certificates or "")
    except ValueError:
        text = "the server’s URL cannot be read"
        raise LdapUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="ServerUrl", received=text) from None
    with (
        _SLOTS.taken(f"{context.tenant.tenant_id} {directory.name}"),
        ldap_client.connected(resolver, server, Deadline(SECONDS)) as connection,
    ):
        connection.bind_service(provider.bind_dn, directory.bind_password)
        yield connection


def find(connection: LdapConnection, request: DirectoryLogin) -> LdapPerson | None:
    """Return the person of a login or a subject; None for nobody. Raises LdapUnavailable."""
    directory, provider = request.directory, request.directory.provider
    attributes = attributes_of(provider)
    if request.subject:
        found = connection.find_subject(provider.base_dn, provider.subject_attribute, request.subject, attributes)
    else:
        found = connection.find(provider.base_dn, provider.user_filter, request.login, attributes)
    return LdapPerson(found, _identity(directory, found, request.domain)) if found is not None else None


def check_password(
    context: Context, request: DirectoryLogin, password: str, before_bind: Callable[[LdapPerson | None], None]
) -> LdapPerson:
    """Return the person whose password this is, with the groups.

    Args:
        before_bind: counts the attempt, before the directory does, and may refuse it.

    Raises:
        PasswordRefused: it is not the password, or the directory lets the person not sign in.
        LdapUnavailable.
    """
    with conversation(context, request.directory) as connection:
        person = find(connection, request)
        before_bind(person)
        connection.check_password(person.entry.dn if person is not None else _NOBODY, password)
        if person is None:
            raise PasswordRefused(PasswordProblem.WRONG, "unknown")
        _refuse_disabled(connection, request, person)
        return with_groups(connection, request.directory, person, is_bound_as_service=False)


def _refuse_disabled(connection: LdapConnection, request: DirectoryLogin, person: LdapPerson) -> None:
    """Raise PasswordRefused for a person who is turned off now: a bind ends a lock whose time is over, and its mark goes with it."""
    if not person.entry.is_disabled:
        return
    connection.bind_service(request.directory.provider.bind_dn, request.directory.bind_password)
    present = find(connection, request)
    if present is None or present.entry.is_disabled:
        raise PasswordRefused(PasswordProblem.DISABLED, "turned off")


def with_groups(
    connection: LdapConnection, directory: LdapDirectory, person: LdapPerson, *, is_bound_as_service: bool = True
) -> LdapPerson:
    """Return the person with the groups that the directory names. Raises LdapUnavailable."""
    provider = directory.provider
    groups = person.entry.texts(provider.group_attribute) if provider.group_attribute else []
    if provider.group_base_dn:
        if not is_bound_as_service:
            connection.bind_service(provider.bind_dn, directory.bind_password)
        groups += [
            each.dn for each in connection.groups_of(provider.group_base_dn, provider.group_filter, person.entry.dn)
        ]
    identity = person.identity
    unique = tuple(dict.fromkeys(groups))
    return LdapPerson(person.entry, ProviderIdentity(**{**vars(identity), "groups": unique}))


def roles_of(provider: LdapProvider, groups: tuple[str, ...]) -> set[str]:
    """Return the roles that groups give. A group is named by its DN, or by its first value alone: `staff` for `cn=staff,ou=groups`."""
    return {provider.group_roles[group] for group in groups_with_roles(provider, groups)}


def groups_with_roles(provider: LdapProvider, groups: tuple[str, ...]) -> tuple[str, ...]:
    """Return those keys of `GroupRoles` that name one of the groups: few, however many groups a person has."""
    if not (groups and provider.group_roles):
        return ()
    from app.identity.platform.ldap import distinguished_names  # noqa: PLC0415 - loads python-ldap, which gave the groups

    names = {distinguished_names.comparable(group) for group in groups}
    values = {distinguished_names.first_value(group) for group in groups}
    return tuple(
        group
        for group in provider.group_roles
        if group.casefold() in values or distinguished_names.comparable(group) in names
    )


def _identity(directory: LdapDirectory, entry: LdapEntry, domain: str) -> ProviderIdentity:
    """Return the identity of an entry. Raises LdapUnavailable without a usable subject."""
    provider = directory.provider
    subject = entry.subject(provider.subject_attribute)
    if not 0 < len(subject) <= MAX_SUBJECT_LENGTH:
        names = ", ".join(sorted(entry.attributes)[:12]) or "no attribute"
        raise LdapUnavailable(
            "the entry has no usable subject",
            check=ConnectionCheck.MAPPING,
            expected=f"one value of {provider.subject_attribute}, of at most {MAX_SUBJECT_LENGTH} characters",
            received=f"the entry has {names}",
        )
    values = mapped(provider, entry)
    email = values.get("Email", "")
    email = email if len(email) <= _MAX_EMAIL_LENGTH else ""
    profile = {name: text[:_MAX_LENGTH] for name, text in values.items() if name not in _NOT_IN_PROFILE}
    return ProviderIdentity(directory.name, subject, email or None, directory.trusts(email, domain), profile)


def mapped(provider: LdapProvider, entry: LdapEntry) -> Mapping[str, str]:
    """Return the fields that the entry fills."""
    values = {name: entry.text(attribute).strip() for name, attribute in provider.data_map.items()}
    return {name: text for name, text in values.items() if text}
