"""Parses the text of settings; an invalid one raises SettingsError with one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

from app.kit.near_names import near_name


class SettingsError(Exception):
    """A setting is missing or contradicts another; its text is the sentence to show."""


_PREFIX = "GATEHOUSE_"
_OTHER_NAMES = {"secrets": ("SECRET_KEY", "SECRET_KEY_FILE"), "shows_cost": ("COST",)}
"""Fields of the settings whose variables have other names."""


def unknown_names(env: Iterable[str], fields: Iterable[str]) -> list[str]:
    """Return a sentence for each variable that none of these fields of the settings is read from."""
    known = {name for field in fields for name in _OTHER_NAMES.get(field, (field.upper(),))}
    return [
        _unknown(name, known) for name in sorted(env) if name.startswith(_PREFIX) and name[len(_PREFIX) :] not in known
    ]


def _unknown(name: str, known: Iterable[str]) -> str:
    near = near_name(name.removeprefix(_PREFIX), known)
    return f"{name} isn't a setting; " + (f"did you mean {_PREFIX}{near}?" if near else "it has no effect.")


def switch(name: str, text: str) -> bool:
    if text not in ("", "0", "1"):
        raise SettingsError(f"{name} must be 1 or 0, not {text!r}.")
    return text == "1"


def file(name: str, path: str) -> str:
    if path and not Path(path).is_file():
        raise SettingsError(f"{name}: there's no file {path!r}.")
    return path


def folder(name: str, path: str) -> str:
    if path and not Path(path).is_dir():
        raise SettingsError(f"{name}: there's no folder {path!r}.")
    return path


def count(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "")
    if text and not re.match(r"[1-9][0-9]{0,2}\Z", text):
        raise SettingsError(f"{name} must be a whole number from 1 to 999, not {text!r}.")
    return int(text) if text else default


def seconds(env: Mapping[str, str], name: str, default: float, *, least: int) -> float:
    text = env.get(name, "")
    if text and not (re.match(r"[0-9]{1,2}(\.[0-9]+)?\Z", text) and least <= float(text) <= 60):
        raise SettingsError(f"{name} must be a number of seconds from {least} to 60, not {text!r}.")
    return float(text) if text else default


def dns_servers(name: str, text: str) -> tuple[str, ...]:
    """Return addresses with their ports, as `server_address` reads them."""
    listed = tuple(text.replace(",", " ").split())
    for part in listed:
        try:
            address, port = server_address(part)
            ip_address(address)
            is_valid = 0 < port < 65_536
        except ValueError:
            is_valid = False
        if not is_valid:
            raise SettingsError(
                f"{name}: {part!r} isn't the IP address of a DNS server, such as 9.9.9.9 or 127.0.0.1:5353."
            )
    return listed


def server_address(text: str) -> tuple[str, int]:
    """Return address and port of a server; port 53 by default. Raises ValueError for a port that is no number."""
    if text.startswith("["):
        address, _, port = text[1:].partition("]")
        return address, int(port.removeprefix(":") or 53)
    address, _, port = text.partition(":") if text.count(":") == 1 else (text, "", "")
    return address, int(port or 53)


def captcha_urls(text: str) -> tuple[tuple[str, str], ...]:
    named = tuple((name, url) for name, _, url in (part.partition("=") for part in text.split()))
    for name, url in named:
        if name not in ("recaptcha_v2", "recaptcha_v3", "hcaptcha", "tencent") or not urlsplit(url).hostname:
            raise SettingsError("GATEHOUSE_CAPTCHA_URLS must look like hcaptcha=https://hcaptcha.example/siteverify.")
    return named


def networks(name: str, text: str, but_for: str = "") -> tuple[str, ...]:
    listed = tuple(part for part in text.replace(",", " ").split() if part)
    for part in listed:
        try:
            if part != but_for:
                ip_network(part, strict=False)
        except ValueError:
            raise SettingsError(f"{name}: {part!r} isn't an IP address or network.") from None
    return listed


_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,99}")
_TAKEN = ("x-forwarded-", "forwarded", "x-real-ip", "authorization", "cookie", "host")


def proxy_header(env: Mapping[str, str], name: str, *, but_for: str = "") -> str:
    """Return the name of a header that only trusted proxies may send; `but_for` may be one of those that have a meaning."""
    header = env.get(name, "").strip()
    is_taken = header.lower().startswith(_TAKEN) and header.lower() != but_for
    if header and (not _HEADER.fullmatch(header) or is_taken):
        raise SettingsError(
            f"{name} must be the name of a header of its own, such as X-SSL-Client-Cert, not {header!r}."
        )
    return header
