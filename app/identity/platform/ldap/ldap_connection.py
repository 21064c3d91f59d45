"""A conversation with a directory server: binds, searches and password changes, within one deadline.

Loads python-ldap, which is an optional part of an installation (the extra `ldap`): `ldap_client` opens conversations.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import ldap
from ldap.filter import escape_filter_chars
from ldap.ldapobject import SimpleLDAPObject

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap import tls_bridge
from app.identity.platform.ldap.ldap_entry import GUID_ATTRIBUTES, LdapEntry
from app.identity.platform.ldap.ldap_refusals import (
    LdapUnavailable,
    NewPasswordRefused,
    PasswordProblem,
    PasswordRefused,
)
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.ldap.tls_bridge import TlsBridge
from app.identity.platform.outbound.deadlines import Deadline
from app.kit.outbound.host_resolver import Resolver

_NO_ADDRESS: Final = "ldapi://%2Fdev%2Fnull"
"""Where libldap connects if the bridge ends: nowhere, so that it never sends a password without TLS."""
_MAX_GROUPS: Final = 1_000
_MEMBER_TEXT: Final = "{dn}"
_LOGIN_TEXT: Final = "{login}"
_AD_CONFIRMED: Final = {
    "532": PasswordProblem.EXPIRED, "773": PasswordProblem.EXPIRED, "533": PasswordProblem.DISABLED, "701": PasswordProblem.DISABLED,
}  # fmt: skip
"""Active Directory's `data` of a refused bind that it gives only with the right password."""


class LdapConnection:
    """An open connection. Every method raises LdapUnavailable where the server does not answer as it should, or in time."""

    def __init__(self, handle: SimpleLDAPObject, bridge: TlsBridge, server: LdapServer) -> None:
        self._handle, self._bridge, self._server = handle, bridge, server

    def bind_service(self, dn: str, password: str) -> None:
        """Bind as the account that searches; without a DN, stay anonymous."""
        if not dn:
            return
        expected = f"a bind as {dn}"
        if not password:  # RFC 4513 section 5.1.2: a bind without one would be anonymous and succeed
            raise LdapUnavailable(
                "no password", check=ConnectionCheck.LDAP_BIND, expected=expected, received="no BindPassword"
            )
        with self._answering(ConnectionCheck.LDAP_BIND, expected):
            try:
                self._handle.simple_bind_s(dn, password)
            except ldap.INVALID_CREDENTIALS:
                raise LdapUnavailable(
                    "the service account is refused",
                    check=ConnectionCheck.LDAP_BIND,
                    expected=expected,
                    received="invalid credentials (49)",
                ) from None

    def find(self, base: str, template: str, login: str, attributes: Sequence[str]) -> LdapEntry | None:
        """Return the only entry below a base that a filter finds; None for no entry. Raises LdapUnavailable for several.

        Args:
            template: the filter, in which `{login}` stands for the escaped login.
        """
        if not _is_carried(login):
            return None
        return self._find(base, template.replace(_LOGIN_TEXT, escape_filter_chars(login)), attributes)

    def find_subject(self, base: str, name: str, subject: str, attributes: Sequence[str]) -> LdapEntry | None:
        """Return the entry with this identifying attribute, in the form of `LdapEntry.subject`; None for no entry."""
        value = subject.encode()
        if name.lower() in GUID_ATTRIBUTES:
            try:
                value = uuid.UUID(subject).bytes_le
            except ValueError:
                return None
        escaped = "".join(f"\\{byte:02x}" for byte in value)
        return self._find(base, f"({name}={escaped})", attributes)

    def _find(self, base: str, filter_text: str, attributes: Sequence[str]) -> LdapEntry | None:
        expected = f"one entry below {base}"
        with self._answering(ConnectionCheck.LDAP_SEARCH, expected):
            try:
                found = self._handle.search_ext_s(base, ldap.SCOPE_SUBTREE, filter_text, list(attributes), sizelimit=2)
            except ldap.SIZELIMIT_EXCEEDED:
                found = [("", {}), ("", {})]
            entries = [(dn, values) for dn, values in found if dn is not None]  # others are references to elsewhere
            if len(entries) > 1:
                raise LdapUnavailable(
                    "several entries match",
                    check=ConnectionCheck.LDAP_SEARCH,
                    expected=expected,
                    received="several entries",
                )
        if not entries:
            return None
        dn, values = entries[0]
        return LdapEntry(dn, {name.lower(): tuple(content) for name, content in values.items()})

    def check_password(self, dn: str, password: str) -> None:
        """Bind as a person. Raises PasswordRefused.

        An empty password is never sent: the server would take it for an anonymous bind, which succeeds (RFC 4513 section 5.1.2).
        """
        if not password or "\0" in password or not dn or not _is_carried(password):
            raise PasswordRefused(PasswordProblem.WRONG, "empty")
        refusals = (
            ldap.INVALID_CREDENTIALS, ldap.NO_SUCH_OBJECT, ldap.INVALID_DN_SYNTAX, ldap.UNWILLING_TO_PERFORM,
            ldap.INAPPROPRIATE_AUTH, ldap.CONSTRAINT_VIOLATION,
        )  # fmt: skip
        with self._answering(ConnectionCheck.LDAP_PASSWORD, "an answer to a bind as the person"):
            try:
                self._handle.simple_bind_s(dn, password)
            except refusals as refusal:
                code, data = _code(refusal), _data(refusal)
                problem = _AD_CONFIRMED.get(data, PasswordProblem.WRONG)
                raise PasswordRefused(problem, f"{code} {data}".strip()) from None

    def groups_of(self, base: str, template: str, dn: str) -> list[LdapEntry]:
        """Return the groups below a base that a filter finds, at most a thousand.

        Args:
            template: the filter, in which `{dn}` stands for the escaped DN of the person.
        """
        filter_text = template.replace(_MEMBER_TEXT, escape_filter_chars(dn))
        expected = f"groups below {base}, {_MAX_GROUPS} at most"
        with self._answering(ConnectionCheck.LDAP_GROUPS, expected):
            found = self._handle.search_ext_s(base, ldap.SCOPE_SUBTREE, filter_text, ["cn"], sizelimit=_MAX_GROUPS)
        return [
            LdapEntry(group, {name.lower(): tuple(content) for name, content in values.items()})
            for group, values in found
            if group is not None
        ]

    def change_password(self, dn: str, old: str, new: str) -> None:
        """Change the password of the bound person by the operation of RFC 3062. Raises NewPasswordRefused."""
        with self._changing():
            self._handle.passwd_s(dn, old, new)

    def change_password_of_active_directory(self, dn: str, old: str, new: str) -> None:
        """Change the password of the bound person as Active Directory does it. Raises NewPasswordRefused."""
        changes = [
            (ldap.MOD_DELETE, "unicodePwd", [f'"{old}"'.encode("utf-16-le")]),
            (ldap.MOD_ADD, "unicodePwd", [f'"{new}"'.encode("utf-16-le")]),
        ]
        with self._changing():
            self._handle.modify_s(dn, changes)

    @contextmanager
    def _changing(self) -> Iterator[None]:
        refusals = (
            ldap.CONSTRAINT_VIOLATION, ldap.UNWILLING_TO_PERFORM, ldap.INSUFFICIENT_ACCESS, ldap.INVALID_CREDENTIALS,
            ldap.INVALID_SYNTAX, ldap.NO_SUCH_ATTRIBUTE,
        )  # fmt: skip
        with self._answering(ConnectionCheck.LDAP_PASSWORD_CHANGE, "an answer to a password change"):
            try:
                yield
            except refusals as refusal:
                raise NewPasswordRefused(_code(refusal)) from None

    @contextmanager
    def _answering(self, check: ConnectionCheck, expected: str) -> Iterator[None]:
        """Turn what libldap raises into the refusal of a step. Its texts may repeat what was sent, so codes alone are told."""
        try:
            yield
        except ldap.REFERRAL:
            text = "a referral to another server, which is never followed"
            raise LdapUnavailable(text, check=check, expected=expected, received=text) from None
        except (ldap.TIMEOUT, ldap.SERVER_DOWN, ldap.CONNECT_ERROR) as problem:
            text = self._bridge.problem or f"{_name(problem)} {_code(problem)}"
            raise LdapUnavailable(
                f"{self._server.host}: {text}", check=check, expected=expected, received=text
            ) from None
        except ldap.LDAPError as problem:
            text = f"{_name(problem)} ({_code(problem)})"
            raise LdapUnavailable(
                f"{self._server.host}: {text}", check=check, expected=expected, received=text
            ) from None
        except (ValueError, TypeError, UnicodeError):
            text = "a value that LDAP cannot carry"
            raise LdapUnavailable(
                f"{self._server.host}: {text}", check=check, expected=expected, received=text
            ) from None


@contextmanager
def opened(resolver: Resolver, server: LdapServer, deadline: Deadline) -> Iterator[LdapConnection]:
    """Open a connection for a block. Raises LdapUnavailable."""
    with tls_bridge.opened(resolver, server, deadline) as bridge:
        handle = ldap.initialize(_NO_ADDRESS, fileno=bridge.descriptor())
        try:
            handle.set_option(ldap.OPT_REFERRALS, ldap.OPT_OFF)
            handle.set_option(ldap.OPT_DEREF, ldap.DEREF_NEVER)
            handle.set_option(ldap.OPT_TIMEOUT, max(deadline.seconds, 0.001))
            handle.set_option(ldap.OPT_NETWORK_TIMEOUT, max(deadline.seconds, 0.001))
            yield LdapConnection(handle, bridge, server)
        finally:
            _unbind(handle)


def _unbind(handle: Any) -> None:
    try:
        handle.unbind_s()
    except ldap.LDAPError:  # the server closed the connection first
        return


def _is_carried(text: str) -> bool:
    """Return whether LDAP can carry a text: UTF-8 has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _code(problem: Any) -> str:
    details = problem.args[0] if problem.args and isinstance(problem.args[0], dict) else {}
    return str(details.get("result", ""))


def _name(problem: Any) -> str:
    return type(problem).__name__.lower().replace("_", " ")


def _data(problem: Any) -> str:
    """Return the error of Windows in a refused bind of Active Directory: `... data 52e, v4563`."""
    details = problem.args[0] if problem.args and isinstance(problem.args[0], dict) else {}
    _, is_there, rest = str(details.get("info", "")).partition("data ")
    code = rest.split(",")[0].strip() if is_there else ""
    return code if code.isalnum() and len(code) <= 4 else ""
