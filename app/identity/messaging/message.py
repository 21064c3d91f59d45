"""What one letter is made of, and how names become harmless in it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from app.contract.configuration import Brand

MOST_NAME_LETTERS: Final = 60
MOST_SUBJECT_LETTERS: Final = 150
_JOINERS: Final = "\u200c\u200d"  # Persian and emoji are written with them
_DOTS: Final = dict.fromkeys(map(ord, "\u3002\uff0e\uff61\u2024\u06d4\u0701\u0702"), ".")
"""What mail programs, or NFKC, take for the dot of a domain."""
_LINK: Final = re.compile(r"://|www\.|[@/\\]|[^\W_]\.(?:[^\W\d_]{2,}|xn--)|[0-9]+(?:\.[0-9]+){3}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a letter says. `minutes` is how long link and code are good; `otp_minutes` where the code's time is another."""

    to: str
    name: str = ""
    url: str = ""
    token: str = ""  # of the link
    otp: str = ""
    minutes: int = 0
    otp_minutes: int = 0
    email: str = ""  # the address that it is about, where that is not `to`
    username: str = ""
    added_by: str = ""  # masked: whose account an address is asked for
    device: str = ""  # which browser asks, and from where
    factor: str = ""  # contract.second_factors.FactorKind that was added or removed
    provider: str = ""  # the title of a connection


@dataclass(frozen=True, slots=True)
class Branding:
    """Whose letter it is."""

    name: str
    brand: Brand

    @property
    def tenant(self) -> str:
        """The tenant's name, on one line."""
        return one_line(self.name, MOST_NAME_LETTERS)

    @property
    def logo(self) -> str:
        """An https address or nothing: mail programs show no `data:` pictures, and filters distrust them."""
        logo = self.brand.logo or ""
        return logo if logo.startswith("https://") else ""

    @property
    def radius(self) -> int:
        return self.brand.radius_px


@dataclass(frozen=True, slots=True)
class RenderedMessage:
    """A mail as it is sent; `html` may be empty."""

    subject: str
    text: str
    html: str
    language: str
    sender_name: str = ""


def one_line(text: str, most: int) -> str:
    """Return a text without line breaks, control characters and marks that turn the direction of what follows, cut to `most`."""
    kept = []
    for letter in text[: 4 * most]:
        kind = unicodedata.category(letter)
        if kind in ("Cc", "Zl", "Zp"):
            kept.append(" ")
        elif kind[0] != "C" or letter in _JOINERS:
            kept.append(letter)
    line = " ".join("".join(kept).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def safe_name(name: str | None) -> str:
    """Return a name that a letter may greet with; nothing where it holds an address: strangers choose names, and would advertise."""
    line = one_line(name or "", MOST_NAME_LETTERS)
    plain = unicodedata.normalize("NFKC", line.translate(_DOTS)).translate(_DOTS)
    joined = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return "" if _LINK.search(joined) else line
