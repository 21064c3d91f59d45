"""Reports why a directory was of no use: for administrators in traces and the log, for people in an error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Final

from app.contract import errors
from app.identity.credentials.ldap.ldap_directories import LdapDirectory
from app.identity.platform.context import Context
from app.identity.platform.extension_points import ExtensionPoint
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable, PasswordProblem
from app.kit.operations.errors import ApiError

log = logging.getLogger("gatehouse.identity")

listeners: Final[ExtensionPoint[Callable[[Context, str, LdapUnavailable], None]]] = ExtensionPoint()
"""Get the context, the name of the provider and the problem, without secrets."""


def report(context: Context, directory: LdapDirectory, problem: LdapUnavailable, secrets: Iterable[str] = ()) -> None:
    """Log and trace a problem of a directory, without these secrets and the service account's."""
    problem.hide(secret for secret in (*secrets, directory.bind_password) if secret)
    log.warning("LDAP provider %s: %s", directory.name, problem)
    for listener in listeners:
        listener(context, directory.name, problem)


def error_of(directory: LdapDirectory, problem: PasswordProblem) -> ApiError:
    """Return the error for a person whose password the directory confirmed, and who may not sign in."""
    if problem is PasswordProblem.EXPIRED:
        url = directory.provider.password_url
        return errors.DirectoryPasswordExpired(data={"PasswordUrl": url} if url else None)
    return errors.LoginDisabled()
