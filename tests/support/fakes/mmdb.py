"""A small database in the MaxMind DB format, version 2.0: networks with a record each."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Address, ip_network
from typing import Any, Final

_POINTERLESS: Final = {str: 2, dict: 7, int: 6, list: 11}
_UINT16, _UINT64 = 5, 9


def database(places: Mapping[str, Any], *, ip_version: int = 6) -> bytes:
    """Return the file: a tree of 24-bit records, the data beneath it, and the metadata at its end."""
    data, at, tree = b"", {}, [[None, None]]
    for network, value in places.items():
        at[network] = len(data)
        data += _encoded(value)
        _hang(tree, _bits(network, ip_version), network)
    nodes = len(tree)
    tree_bytes = b"".join(_record(side, nodes, at) for node in tree for side in node)
    about = {
        "binary_format_major_version": (_UINT16, 2), "binary_format_minor_version": (_UINT16, 0), "build_epoch": (_UINT64, 1_700_000_000),
        "database_type": "Test-City", "description": {"en": "for tests"}, "ip_version": (_UINT16, ip_version),
        "languages": ["en"], "node_count": nodes, "record_size": (_UINT16, 24),
    }  # fmt: skip
    return tree_bytes + bytes(16) + data + b"\xab\xcd\xefMaxMind.com" + _encoded(about)


def _bits(network: str, ip_version: int) -> str:
    stored = ip_network(network)
    if isinstance(stored, IPv4Network) and ip_version == 6:
        stored = ip_network((IPv6Address(int(stored.network_address)), stored.prefixlen + 96))
    return f"{int(stored.network_address):0{stored.max_prefixlen}b}"[: stored.prefixlen]


def _hang(tree: list[list[Any]], bits: str, network: str) -> None:
    node = 0
    for bit in map(int, bits[:-1]):
        if tree[node][bit] is None:
            tree.append([None, None])
            tree[node][bit] = len(tree) - 1
        node = tree[node][bit]
    tree[node][int(bits[-1])] = network


def _record(side: Any, nodes: int, at: Mapping[str, int]) -> bytes:
    value = nodes if side is None else side if isinstance(side, int) else nodes + 16 + at[side]
    return int(value).to_bytes(3, "big")


def _encoded(value: Any) -> bytes:
    kind, value = value if isinstance(value, tuple) else (_POINTERLESS[type(value)], value)
    if isinstance(value, str):
        body, size = value.encode(), len(value.encode())
    elif isinstance(value, int):
        body = value.to_bytes((value.bit_length() + 7) // 8, "big")
        size = len(body)
    elif isinstance(value, list):
        body, size = b"".join(map(_encoded, value)), len(value)
    else:
        body, size = b"".join(_encoded(name) + _encoded(member) for name, member in value.items()), len(value)
    long = bytes([size - 29]) if size > 28 else b""
    first = (kind if kind < 8 else 0) << 5 | min(size, 29)
    return bytes([first, *([kind - 7] if kind > 7 else [])]) + long + body
