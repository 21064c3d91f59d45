"""Normalizes database addresses.

An address may hold parameters of our own beside the driver's: `prepare=off` (PostgreSQL behind PgBouncer) and `synchronous=normal`
(SQLite). `own_parameters` removes them for the code that opens the database.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, urlencode

DRIVER: Final = "postgresql+psycopg"
_OWN: Final = {
    "sqlite": {"synchronous": ("full", "normal")},
    DRIVER: {"prepare": ("on", "off")},
}
_PORT: Final = "5432"
_HOST: Final = re.compile(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]:]*)(?::(?P<port>[0-9]*))?\Z")


class BadAddress(ValueError):
    """The message says what the address must look like."""


def normalized(url: str) -> str:
    """Return the address with the driver named, and several hosts (libpq, section 34.1.1.3) as `?host=a,b&port=1,2`.

    Raises BadAddress.
    """
    if url.startswith(("postgres://", "postgresql://")):
        url = f"{DRIVER}://{url.partition('://')[2]}"
    scheme = url.partition(":")[0]
    if url and not url.startswith(("sqlite:///", f"{DRIVER}://")):
        raise BadAddress("must start with sqlite:/// or postgresql://")
    for name, value in own_parameters(url)[1].items():
        if value not in _OWN[scheme][name]:
            raise BadAddress(f"has {name}={value}, but {name} must be {' or '.join(_OWN[scheme][name])}")
    return _with_one_spelling_of_hosts(url) if scheme == DRIVER else url


def own_parameters(url: str) -> tuple[str, dict[str, str]]:
    """Return the address for the driver, and our own parameters."""
    address, mark, query = url.partition("?")
    named = _OWN.get(url.partition(":")[0], {})
    if not mark or not named:
        return url, {}
    pairs = parse_qsl(query, keep_blank_values=True)
    ours = {name: value.lower() for name, value in pairs if name in named}
    theirs = urlencode([(name, value) for name, value in pairs if name not in named], safe=",:/")
    return (f"{address}?{theirs}" if theirs else address), ours


def _with_one_spelling_of_hosts(url: str) -> str:
    # `urlsplit` of newer Pythons refuses several hosts in brackets.
    address, _, parameters = url.partition("?")
    authority, slash, name = address.removeprefix(f"{DRIVER}://").partition("/")
    user, at, hosts_text = authority.rpartition("@")
    query = parse_qsl(parameters, keep_blank_values=True)
    named_in_query = {name: value for name, value in query if name in ("host", "port")}
    if "," in hosts_text:
        if "host" in named_in_query:
            raise BadAddress("names hosts twice: before the path and in ?host=. Keep one")
        named = [_HOST.match(place) for place in hosts_text.split(",")]
        if not all(found and found["host"] for found in named):
            raise BadAddress("has a malformed host. Write several as postgresql://user:password@one:5432,two:5432/name")
        hosts = [found["host"].strip("[]") for found in named if found]
        ports = [found["port"] or _PORT for found in named if found]
        hosts_text = ""
    elif "," in named_in_query.get("host", ""):
        hosts = named_in_query["host"].split(",")
        ports = [port or _PORT for port in named_in_query.get("port", _PORT).split(",")]
        ports = ports * len(hosts) if len(ports) == 1 else ports
    else:
        return url
    if len(ports) != len(hosts):
        raise BadAddress(
            f"names {len(hosts)} hosts and {len(ports)} ports. Give one port for all, or one for each host"
        )
    if not all(port.isdigit() and 0 < int(port) < 65_536 for port in ports):
        raise BadAddress("has a malformed port. Use a number from 1 to 65535")
    rest = [(name, value) for name, value in query if name not in ("host", "port")]
    parameters = urlencode([("host", ",".join(hosts)), ("port", ",".join(ports)), *rest], safe=",:/")
    return f"{DRIVER}://{user}{at}{hosts_text}{slash}{name}?{parameters}"
