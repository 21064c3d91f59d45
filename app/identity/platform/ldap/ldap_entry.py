"""Entries of a directory, as searches return them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

GUID_ATTRIBUTES: Final = frozenset({"objectguid"})
"""Attributes of 16 bytes in the order of Windows, which Microsoft's tools show as a GUID."""
STATE_ATTRIBUTES: Final = ("userAccountControl", "nsAccountLock", "pwdAccountLockedTime")
"""What says that an account may not sign in: Active Directory's, FreeIPA's, OpenLDAP's attribute."""
_GUID_BYTES: Final = 16
_INTEGER: Final = re.compile(r"-?[0-9]{1,10}")
_ACCOUNT_DISABLED: Final = 0x2
"""The bit of `userAccountControl`."""


@dataclass(frozen=True)
class LdapEntry:
    """A person's entry. Attribute names are in lower case, because LDAP does not tell letter cases apart."""

    dn: str
    attributes: Mapping[str, Sequence[bytes]] = field(repr=False)

    def text(self, name: str) -> str:
        """Return the first value of an attribute as text; empty without one, and for bytes that are no UTF-8."""
        return next(iter(self.texts(name)), "")

    def texts(self, name: str) -> list[str]:
        """Return those values of an attribute that are text."""
        return [text for value in self.attributes.get(name.lower(), ()) if (text := _decoded(value))]

    def subject(self, name: str) -> str:
        """Return the identifying attribute as text: GUIDs as such, other bytes in hexadecimal digits; empty without one value."""
        values = self.attributes.get(name.lower(), ())
        if len(values) != 1 or not values[0]:
            return ""
        if name.lower() in GUID_ATTRIBUTES and len(values[0]) == _GUID_BYTES:
            return str(uuid.UUID(bytes_le=values[0]))
        return _decoded(values[0]) or values[0].hex()

    @property
    def is_disabled(self) -> bool:
        """Whether the entry itself says that its account may not sign in: Active Directory's, FreeIPA's, OpenLDAP's attribute."""
        control = self.text("userAccountControl")
        return (
            (_INTEGER.fullmatch(control) is not None and bool(int(control) & _ACCOUNT_DISABLED))
            or self.text("nsAccountLock").lower() == "true"
            or bool(self.text("pwdAccountLockedTime"))
        )


def _decoded(value: bytes) -> str:
    """Return printable UTF-8 as text, otherwise an empty text."""
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""
