"""Checks and changes the password of a known account in its directory, by the identity that it has there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract import errors
from app.identity.credentials.ldap import ldap_directories, ldap_people, ldap_reports
from app.identity.credentials.ldap.ldap_directories import DirectoryLogin
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.platform.ldap.ldap_refusals import (
    LdapUnavailable,
    NewPasswordRefused,
    PasswordProblem,
    PasswordRefused,
)

if TYPE_CHECKING:
    from app.identity.platform.ldap.ldap_connection import LdapConnection

_CHANGES = ("ExtendedOperation", "ActiveDirectory")


def is_password(context: Context, login: DirectoryLogin, password: str) -> bool:
    """Return whether this is the password of the person. The caller has counted the attempt.

    Raises LoginDisabled, DirectoryPasswordExpired, DirectoryUnavailable.
    """
    try:
        ldap_people.check_password(context, login, password, lambda _: None)
    except PasswordRefused as refusal:
        if refusal.problem is PasswordProblem.WRONG:
            return False
        raise ldap_reports.error_of(login.directory, refusal.problem) from None
    except LdapUnavailable as problem:
        ldap_reports.report(context, login.directory, problem, (password,))
        raise errors.DirectoryUnavailable from None
    return True


def refuse_unchangeable(login: DirectoryLogin) -> None:
    """Raise DirectoryPasswordElsewhere where people do not change the directory's passwords here."""
    if login.directory.provider.password_change not in _CHANGES:
        raise ldap_directories.managed_error(login.directory)


def change(context: Context, login: DirectoryLogin, account: Account, old: str, new: str) -> None:
    """Change the password in the directory, as the person. Call it after `is_password`.

    Raises DirectoryPasswordRefused, DirectoryUnavailable.
    """
    try:
        with ldap_people.conversation(context, login.directory) as connection:
            dn = _dn(connection, login)
            connection.check_password(dn, old)
            if login.directory.provider.password_change == "ActiveDirectory":
                connection.change_password_of_active_directory(dn, old, new)
            else:
                connection.change_password(dn, old, new)
    except (NewPasswordRefused, PasswordRefused) as refusal:
        context.audit.record("password.refused", uid=account.uid, reason="directory", result=str(refusal))
        raise errors.DirectoryPasswordRefused from None
    except LdapUnavailable as problem:
        ldap_reports.report(context, login.directory, problem, (old, new))
        raise errors.DirectoryUnavailable from None


def _dn(connection: LdapConnection, login: DirectoryLogin) -> str:
    """Return the DN of the person. Raises NewPasswordRefused where the entry is gone."""
    person = ldap_people.find(connection, login)
    if person is None:
        raise NewPasswordRefused("unknown")
    return person.entry.dn
