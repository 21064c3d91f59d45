"""Opens conversations with directory servers, where this installation has python-ldap."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.platform.ldap.ldap_refusals import LdapUnavailable
from app.identity.platform.ldap.ldap_server import LdapServer
from app.identity.platform.outbound.deadlines import Deadline
from app.kit.outbound.host_resolver import Resolver

if TYPE_CHECKING:
    from app.identity.platform.ldap.ldap_connection import LdapConnection


@contextmanager
def connected(resolver: Resolver, server: LdapServer, deadline: Deadline) -> Iterator[LdapConnection]:
    """Open a conversation for a block. Raises LdapUnavailable, also where this installation has no python-ldap."""
    if find_spec("ldap") is None:
        text = "this installation has no LDAP client: install the extra ldap of gatehouse-identity"
        raise LdapUnavailable(text, check=ConnectionCheck.CONFIGURATION, expected="the extra ldap", received=text)
    from app.identity.platform.ldap import ldap_connection  # noqa: PLC0415 - optional, and few tenants need it

    with ldap_connection.opened(resolver, server, deadline) as connection:
        yield connection
