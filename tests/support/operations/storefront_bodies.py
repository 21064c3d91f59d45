"""Requests that create stores of shops and sites, of which each number is another."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def shopify(number: int) -> Body:
    return {"Store": f"shop{number}", "Domain": f"shop{number}.example", "MultipassSecret": f"{number}" * 32}


def bigcommerce(number: int) -> Body:
    return {
        "Store": f"shop{number}", "StoreHash": "abc123", "StoreUrl": f"https://shop{number}.example", "ClientId": "client",
        "ClientSecret": "c" * 32, "AccessToken": "a token of the API account",
    }  # fmt: skip


def perfectmind(number: int) -> Body:
    return {
        "Site": f"pool{number}", "Host": f"pool{number}.perfectmind.com", "ClientNumber": "24588", "AccessKey": "key of the API",
    }  # fmt: skip
