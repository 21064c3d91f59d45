"""Reads distinguished names: servers write the same one with other escapes, blanks and letter cases (RFC 4514)."""

from __future__ import annotations

from ldap import DECODING_ERROR
from ldap.dn import str2dn


def comparable(dn: str) -> str:
    """Return a text that is equal for equal names; one that is no name, without its letter case."""
    try:
        parts = str2dn(dn)
    except DECODING_ERROR:
        return dn.casefold()
    return repr([sorted((name.casefold(), value.casefold()) for name, value, _ in part) for part in parts])


def first_value(dn: str) -> str:
    """Return the first value of a name, `staff` of `cn=staff,ou=groups`, without its letter case; empty for other texts."""
    try:
        parts = str2dn(dn)
    except DECODING_ERROR:
        return ""
    return str(parts[0][0][1]).casefold() if parts else ""
