"""Names of organizations and roles, and the ids of everything in this package."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from app.contract import errors
from app.identity.directory.accounts import confusables
from app.kit import randomness

ORGANIZATION, CONNECTION, DOMAIN, ROLE = "org_", "conn_", "org_domain_", "role_"
PERMISSION, INVITATION, USER_ROLE, GROUP_ROLE = "perm_", "inv_", "user_role_", "group_role_"
JOIN_REQUEST, SETUP_LINK = "join_request_", "setup_link_"
_RANDOM_PART: Final = 16
_MAX_KEY_LENGTH: Final = 400  # the columns `name_key`; compatibility forms may be longer than the name


def mint(prefix: str) -> str:
    """Return a new id."""
    return prefix + randomness.alphanumeric(_RANDOM_PART)


def is_id(prefix: str, text: str) -> bool:
    """Return whether a text has the form of an id of this kind."""
    return re.fullmatch(rf"{prefix}[A-Za-z0-9]{{{_RANDOM_PART}}}", text) is not None


def key_of(name: str) -> str:
    """Return the normalized name: equal for names that differ only in letter case, spacing or compatibility forms."""
    form = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return " ".join(unicodedata.normalize("NFKC", form.casefold()).split())


def checked(name: str, field: str = "Name") -> str:
    """Return a name in NFC, without spaces at its ends.

    Raises BadField for an empty name, and for invisible, control and mixed-script characters, which imitate other names.
    """
    text = unicodedata.normalize("NFC", name.strip())
    has_control = any(unicodedata.category(item)[0] == "C" or item in "\u2028\u2029" for item in text)
    if not text or has_control or confusables.has_invisible_character(text):
        raise errors.BadField(f"The {field} is not formatted correctly: it is empty or has invisible characters.")
    if not all(confusables.is_single_script(word) for word in text.split()):
        raise errors.BadField(f"The {field} is not formatted correctly: a word has letters of several scripts.")
    if len(key_of(text)) > _MAX_KEY_LENGTH:
        raise errors.BadField(f"The {field} is not formatted correctly: it is too long.")
    return text
