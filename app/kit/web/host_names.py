"""Host names in the form that browsers send (URL Standard section 3.5), and in the form that people read (UTS 46, UTS 39)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any, Final
from wsgiref.types import WSGIEnvironment

from werkzeug.sansio.utils import get_host as named_host
from werkzeug.wsgi import get_host

PREFIX: Final = "xn--"
_SENT: Final = re.compile(r"[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?")
_NUMBER: Final = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)")
_HOST_IN_TEXT: Final = re.compile(
    r"(?<![\w.-])(?:[a-z0-9_-]+\.)*xn--[a-z0-9-]+(?:\.[a-z0-9_-]+)*", re.IGNORECASE | re.ASCII
)
_MAX_HOST_LENGTH: Final = 254
_SINGLE: Final = frozenset(
    {"ARABIC", "ARMENIAN", "BENGALI", "CYRILLIC", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GREEK", "GUJARATI", "GURMUKHI", "HEBREW"}
    | {"KANNADA", "KHMER", "LAO", "LATIN", "MALAYALAM", "MYANMAR", "ORIYA", "SINHALA", "TAMIL", "TELUGU", "THAI"}
)  # fmt: skip
_TOGETHER: Final = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "IDEOGRAPHIC"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
"""Scripts that one label may mix (UTS 39 section 5.2, highly restrictive)."""
_LATIN: Final = re.compile(
    "[a-z\u00df-\u00f6\u00f8-\u0130\u0132-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u017e\u01a0\u01a1\u01af\u01b0\u0218-\u021b\u1ea0-\u1ef9]"
)
"""Latin letters that are not easily confused with others."""
_LIKE_LATIN: Final = {
    "CYRILLIC": frozenset("аысԁеԍһіюјӏорԗԛѕԝхуъьҽпгѵѡтк"),
    "GREEK": frozenset("αικνρυωηοτχε"),
    "ARMENIAN": frozenset("ագզէլհոսւքօցձյո"),
    "GEORGIAN": frozenset("იოყძხჽჿ"),
    "ETHIOPIC": frozenset("ሀዐጠፐ"),
    "HEBREW": frozenset("דוחיןסםה"),
    "MYANMAR": frozenset("ခဂငထပဝ၀"),
}
"""Letters of other scripts that look like Latin ones: a label made only of these looks like another name."""
_SIGNS: Final = "ノソゾンー一丨丶丿亅乀乁へヘべベぺペㄧㄟ\u1173\u1175"
_LIKE_SIGN: Final = re.compile(rf"[!-~][{_SIGNS}]|^[{_SIGNS}]+(?:[!-~]|$)")
"""East Asian letters that look like a slash or a hyphen: `bank.comノlogin.example` looks like a page of `bank.com`."""


def sent_host(name: str) -> str:
    """Return the host name as browsers send it: in lower case and in punycode; empty for a name that they refuse.

    An IPv6 address is without brackets, in its shortest form; an IPv4 address has four numbers.
    """
    if ":" in name:
        try:
            return str(IPv6Address(name)) if "%" not in name else ""
        except AddressValueError:
            return ""
    host = name.lower() if name.isascii() else _in_punycode(name)
    if len(host) > _MAX_HOST_LENGTH or _SENT.fullmatch(host) is None:
        return ""
    labels = host.removesuffix(".").split(".")
    return host if _NUMBER.fullmatch(labels[-1]) is None else _ipv4(labels)


def _ipv4(labels: list[str]) -> str:
    """Return the address of a host that ends in a number, such as `127.1` and `0x7f.1` (URL Standard, "IPv4 parser"); empty for none."""
    try:
        *first, last = (_number(label) for label in labels)
    except ValueError:
        return ""
    if len(first) > 3 or any(item > 255 for item in first) or last >= 256 ** (4 - len(first)):
        return ""
    return str(IPv4Address(sum(item << 8 * (3 - place) for place, item in enumerate(first)) + last))


def _number(label: str) -> int:
    """Return the number that a browser reads; raises ValueError for none."""
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if len(label) > 1 and label.startswith("0") else 10)


def shown_host(host: str) -> str:
    """Return the host for display, with its port if it has one: Unicode for punycode, unless it could be confused with another
    name. As in browsers, a label of mixed scripts, or only of letters that look like Latin ones, stays punycode.
    """
    if PREFIX not in host.lower():
        return host
    return ".".join(map(_shown_label, host.split(".")))


def readable(text: Any) -> Any:
    """Return a text, such as an email address, with each host in its display form; a translated text or markup as it is."""
    if not isinstance(text, str) or hasattr(text, "__html__") or PREFIX not in text.lower():
        return text
    return _HOST_IN_TEXT.sub(lambda found: shown_host(found[0]), text)


def _in_punycode(name: str) -> str:
    import idna

    try:
        mapped = idna.uts46_remap(name, std3_rules=False)
        return ".".join(
            label if label.isascii() else PREFIX + label.encode("punycode").decode() for label in mapped.split(".")
        )
    except (idna.IDNAError, UnicodeError):
        return ""


def _shown_label(label: str) -> str:
    name, colon, port = label.partition(":")
    if not name.lower().startswith(PREFIX):
        return label
    try:
        text = name[len(PREFIX) :].lower().encode("ascii").decode("punycode")
    except UnicodeError:
        return label
    is_same = sent_host(text) == name.lower()
    return f"{text}{colon}{port}" if is_same and _is_safe(text) else label


def _is_safe(text: str) -> bool:
    letters = [item for item in text if item not in "0123456789-"]
    if any(not (letter.isalpha() or unicodedata.category(letter) in ("Mn", "Mc")) for letter in letters):
        return False
    scripts = {unicodedata.name(letter, "UNKNOWN").partition(" ")[0] for letter in letters}
    is_pure = len(scripts) == 1 and scripts <= _SINGLE
    if not (is_pure or any(scripts <= allowed for allowed in _TOGETHER)):
        return False
    if "LATIN" in scripts and any(_is_latin(letter) and _LATIN.fullmatch(letter) is None for letter in letters):
        return False
    if _LIKE_SIGN.search(text):
        return False
    look_alikes = _LIKE_LATIN.get(next(iter(scripts)), frozenset()) if is_pure else frozenset()
    return not look_alikes.issuperset(letters)


def _is_latin(character: str) -> bool:
    return unicodedata.name(character, "").startswith("LATIN")


_named: Final = lru_cache(maxsize=1024)(named_host)


def requested_host(environ: WSGIEnvironment) -> str:
    """Return the host that a request names, without the scheme's own port; empty for one with characters that no host has."""
    header: str | None = environ.get("HTTP_HOST")
    return get_host(environ) if header is None else _named(environ["wsgi.url_scheme"], header)
