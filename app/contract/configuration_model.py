"""The base class of configuration models, and the validated types of their fields.

A validator returns the value, or raises ValueError with the expected form.
"""

import re
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.kit.design import theme_file_names
from app.kit.text.languages import LANGUAGES
from app.kit.web.urls import is_web_url, origin_of, parse_url, split_url

STORED: Final = "stored"
"""The context of `model_validate` for stored values: `Brand` then leaves out what this version refuses."""


class ConfigurationModel(BaseModel):
    """A part of a configuration file: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=False, defer_build=True)


_PICTURE = re.compile(r"data:image/[a-z0-9.+-]+[;,]")


def plain(address: str) -> str:
    """Return the address; refuse characters that browsers or headers could misread, and an unreadable host or port."""
    if any(ord(letter) <= 32 or letter in '\\"<>\x7f' for letter in address):
        raise ValueError("an address without spaces, quotes, backslashes or angle brackets")
    if split_url(address) is None:
        raise ValueError("an address with a valid host and port")
    return address


def web_origin(address: str) -> str:
    """Check `scheme://host[:port]`, in any spelling of the host."""
    parts = parse_url(plain(address))
    if parts is None or parts.path or any(mark in address for mark in "?#"):
        raise ValueError("an origin such as https://app.example.com, without a path or *")
    return address


def page_origin(address: str) -> str:
    """Check an origin of pages: that of a website, or of pages that an app or an extension brings along."""
    return address if origin_of(plain(address)) == address else web_origin(address)


def _web_url(address: str) -> str:
    if not is_web_url(address):
        raise ValueError("a web address such as https://www.example.com/page")
    return address


def _picture(address: str) -> str:
    is_https = address.startswith("https://") and is_web_url(address)
    if not (is_https or _PICTURE.match(address)):
        raise ValueError("an https address, or an image as a data: URL")
    return address


def _own_picture(address: str) -> str:
    is_path = address.startswith("/") and not address.startswith("//")
    if is_path:
        return plain(address)
    if theme_file_names.is_name(address):
        return address
    try:
        return _picture(address)
    except ValueError:
        raise ValueError(
            "an https address, a file of the theme such as img/logo.svg, a path such as /theme/logo.svg, or an image as a data: URL"
        ) from None


def _network(text: str) -> str:
    try:
        ip_network(text, strict=False)
    except ValueError:
        raise ValueError("an address or a network such as 192.0.2.7, 192.0.2.0/24 or 2001:db8::/32") from None
    return text


def instant(text: str) -> datetime:
    """Return the instant; a date means its beginning, and the default time zone is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("a date or time such as 2027-01-31 or 2027-01-31T18:00:00Z") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _moment(text: str) -> str:
    instant(text)
    return text


def _language(tag: str) -> str:
    if tag not in LANGUAGES:
        raise ValueError(f"a language of the pages: {', '.join(LANGUAGES)}")
    return tag


def _words(text: str) -> str:
    if not text.strip():
        raise ValueError("text, not only spaces")
    return text


def _different(values: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(values)) < len(values):
        raise ValueError("each entry once")
    return values


WebUrl = Annotated[str, AfterValidator(_web_url), Field(max_length=2_000)]
Picture = Annotated[str, AfterValidator(_picture), Field(max_length=12_000)]
OwnPicture = Annotated[str, AfterValidator(_own_picture), Field(max_length=12_000)]
Network = Annotated[str, AfterValidator(_network)]
Moment = Annotated[str, AfterValidator(_moment)]
Tag = Annotated[str, AfterValidator(_language)]
Words = Annotated[str, AfterValidator(_words), Field(max_length=500)]
Different = AfterValidator(_different)
