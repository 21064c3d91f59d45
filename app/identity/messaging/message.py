"""The parts of a message, and the sanitizing of names in it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from app.contract.tenants.branding import Brand, Line, line_in
from app.kit.design import theme_file_names
from app.kit.text.languages import SOURCE
from app.kit.text.tenant_texts import TenantTexts, compile_texts

MAX_NAME_LENGTH: Final = 60
MAX_SUBJECT_LENGTH: Final = 150
_JOINERS: Final = "\u200c\u200d"  # Persian and emoji are written with them
_DOTS: Final = dict.fromkeys(map(ord, "\u3002\uff0e\uff61\u2024\u06d4\u0701\u0702"), ".")
"""Characters that mail programs or NFKC treat as the dot of a domain."""
_DEFAULT_RADIUS: Final[int] = Brand.model_fields["radius_px"].default
_WORD_JOINER: Final = "\u2060"
_IN_ADDRESSES: Final = ".:/@\\"
_LINK: Final = re.compile(r"://|www\.|[@/\\]|[^\W_]\.(?:[^\W\d_]{2,}|xn--)|[0-9]+(?:\.[0-9]+){3}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What a message says. `minutes` is the lifetime of link and code; `otp_minutes` of the code, if it differs.

    Callers state what the account and the request do not tell; `messaging` adds the rest, and makes names and links harmless.
    """

    to: str = ""
    name: str = ""
    url: str = ""
    token: str = ""  # of the link
    otp: str = ""
    minutes: int = 0
    otp_minutes: int = 0
    email: str = ""  # the address that the message is about, if not `to`
    username: str = ""
    sign_in_name: str = ""  # what the account signs in with, if not its address: a username, a number, or a provider
    added_by: str = ""  # masked address of the account that adds this address
    device: str = ""  # browser and location of the request
    factor: str = ""  # contract.second_factors.FactorKind that was added or removed; empty if all were removed
    provider: str = ""  # the title of a connection
    change: str = ""  # of an email address: added, removed, primary; of a sign-in: refused
    organization: str = ""  # that the recipient may join
    domain: str = ""  # of the organization
    organization_logo: str = ""  # https address
    organization_color: str = ""  # #rrggbb; in place of the tenant's
    inviter: str = ""  # the name of the member who invites, without addresses
    event: str = ""  # that a webhook receives
    webhook: str = ""  # its id
    theme_file: str = ""  # that failed on a page
    problem: str = ""  # why it failed
    failed_at: datetime | None = None
    until: datetime | None = None  # the deletion of the account
    application: str = ""  # that asked for the sign-in, if known
    browser: str = ""  # of the request, if known
    system: str = ""  # of the request
    place: str = ""  # of the request: its city
    requested_at: datetime | None = None  # the request


@dataclass(frozen=True, slots=True)
class Branding:
    """The tenant's name and brand."""

    name: Line
    brand: Brand
    origin: str = ""
    """The tenant's host, which serves its `/theme/` files."""
    default_locale: str = SOURCE.tag
    """The language of what the name and the brand do not have in a message's own."""
    texts: TenantTexts = field(init=False)
    """The tenant's own texts."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "texts", compile_texts(self.brand.texts))

    def tenant(self, language: str) -> str:
        """Return the tenant's name on one line."""
        return one_line(line_in(self.name, language, self.default_locale), MAX_NAME_LENGTH)

    def signature(self, language: str) -> str:
        """Return the line below every mail; empty for none."""
        return line_in(self.brand.signature, language, self.default_locale)

    def sentence(self, language: str) -> str:
        """Return the sentence of the look; empty for none."""
        return line_in(self.brand.sentence, language, self.default_locale)

    @property
    def logo(self) -> str:
        """Return an address or nothing: mail programs show no `data:` images, and spam filters distrust them.

        A logo for dark grounds replaces a missing logo, but not a logo in a format that mails cannot show.
        """
        logos = (self.brand.logo, self.brand.logo_dark)
        return self._picture(next(filter(None, reversed(logos) if self.brand.color_scheme == "dark" else logos), None))

    @property
    def logo_dark(self) -> str:
        """Return the logo of dark mode, as `logo`; nothing in mails of one mode."""
        return self._picture(self.brand.logo_dark) if self.brand.color_scheme == "auto" else ""

    @property
    def color_schemes(self) -> str:
        """Return the value of CSS `color-scheme`."""
        return "light dark" if self.brand.color_scheme == "auto" else self.brand.color_scheme

    @property
    def has_own_mark(self) -> bool:
        """Return whether the tenant has a logo, in any format: its name then stands without another mark."""
        return bool(self.brand.logo or self.brand.logo_dark)

    def _picture(self, address: str | None) -> str:
        """Return the absolute address; nothing for an SVG, which most mail programs do not show."""
        address = theme_file_names.address(address or "", self.brand.files)
        if not address or urlsplit(address).path.lower().endswith(".svg"):
            return ""
        if address.startswith("/theme/") and self.origin:
            return self.origin + address
        return address if address.startswith("https://") else ""

    @property
    def button_radius(self) -> int:
        """Return the radius of buttons in px."""
        return {"square": 0, "pill": 99}.get(self.brand.button_shape, self.brand.radius_px)

    @property
    def card_radius(self) -> int:
        """Return the radius of the card in px."""
        return self._scaled_radius(16)

    @property
    def note_radius(self) -> int:
        """Return the radius of what lies in the card, such as the code, in px."""
        return self._scaled_radius(12)

    @property
    def tile_radius(self) -> int:
        """Return the radius of the mark without a logo in px."""
        return self._scaled_radius(9)

    def _scaled_radius(self, default: int) -> int:
        """Return a radius that is the default at that of themes; at most twice that, so that corners leave room for text."""
        return min(round(default * self.brand.radius_px / _DEFAULT_RADIUS), 2 * default)


class ThemeFileFailed(Exception):
    """A file of a theme did not render, or this version of Gatehouse refuses it.

    Args:
        file: its path in the theme's folder.
        reason: without values of the mail.
    """

    def __init__(self, file: str, reason: str) -> None:
        super().__init__(f"{file}: {reason}")
        self.file = file
        self.reason = reason


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A rendered mail; `html` may be empty."""

    subject: str
    text: str
    html: str
    language: str
    sender_name: str = ""
    from_email: str = ""
    failure: ThemeFileFailed | None = None
    """Why it has ours in the place of a file of the theme."""


def isolated(text: str, direction: str) -> str:
    """Return a value that keeps its own direction in a sentence from right to left, in HTML and in plain text."""
    return f"\u2068{text}\u2069" if direction == "rtl" else text


def one_line(text: str, max_length: int) -> str:
    """Return a text without line breaks, control characters and bidirectional marks, cut to `max_length`."""
    if not text:
        return ""
    line = text[: 4 * max_length]
    if not (line.isascii() and line.isprintable()):  # nothing to leave out
        line = "".join(map(_character_of_line, line))
    line = " ".join(line.split())
    return line if len(line) <= max_length else line[: max_length - 1].rstrip() + "…"


def _character_of_line(character: str) -> str:
    """Return the character, a space in place of a break, or nothing in place of an invisible one."""
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return character if category[0] != "C" or character in _JOINERS else ""


def unlinked(name: str | None, max_length: int = MAX_NAME_LENGTH) -> str:
    """Return a name that no mail program turns into a link: invisible word joiners follow the characters that addresses need."""
    line = one_line(name or "", max_length)
    return "".join(item + _WORD_JOINER if item in _IN_ADDRESSES or ord(item) in _DOTS else item for item in line)


def safe_name(name: str | None) -> str:
    """Return a name for a greeting, or nothing if it contains an address: names are user input, and could carry advertising."""
    line = one_line(name or "", MAX_NAME_LENGTH)
    plain = unicodedata.normalize("NFKC", line.translate(_DOTS)).translate(_DOTS)
    joined = "".join(character for character in plain if unicodedata.category(character) != "Cf")
    return "" if _LINK.search(joined) else line
