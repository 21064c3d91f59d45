"""BigCommerce: find or create the customer (Customers V3 API), and sign the customer in (Customer Login API)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from urllib.parse import urlencode

from joserfc import jwt
from joserfc.jwk import OctKey
from pydantic_core import to_json

from app.identity.platform.outbound.outbound_http import ProviderUnavailable, request_json
from app.kit import randomness
from app.kit.outbound.host_resolver import Resolver

API: Final = "https://api.bigcommerce.com"
_ALGORITHM: Final = "HS256"
"""The only value that the Customer Login API accepts."""


@dataclass(frozen=True)
class BigCommerce:
    """One store, and the tenant's API account at it.

    Args:
        api: base URL of the API.
        store_url: origin of the storefront.
    """

    resolver: Resolver
    api: str
    store_hash: str
    store_url: str
    client_id: str
    client_secret: str = field(repr=False)
    access_token: str = field(repr=False)

    def customer_id(self, email: str, first_name: str, last_name: str) -> int:
        """Return the id of the store's customer with this address; without one, create it. Raises ProviderUnavailable."""
        customer = self._find(email)
        if not customer:
            new = {"email": email, "first_name": first_name, "last_name": last_name}
            customer = _with_email(self._send("POST", "", [new]), email)
        if len(customer) != 1:  # several storefronts of the store may each have a customer with this address
            raise ProviderUnavailable(f"the store has {len(customer)} customers of one address")
        return customer[0]

    def login_url(self, customer_id: int, redirect_to: str | None, now: datetime) -> str:
        """Return the address that signs the customer in.

        Args:
            redirect_to: path at the storefront; None: the page of the customer's account.
        """
        claims = {
            "iss": self.client_id, "iat": int(now.timestamp()), "jti": randomness.guid(), "operation": "customer_login",
            "store_hash": self.store_hash, "customer_id": customer_id, **({"redirect_to": redirect_to} if redirect_to else {}),
        }  # fmt: skip
        key = OctKey.import_key(self.client_secret)
        signed = jwt.encode({"typ": "JWT", "alg": _ALGORITHM}, claims, key, algorithms=[_ALGORITHM])
        return f"{self.store_url}/login/token/{signed}"

    def _find(self, email: str) -> list[int]:
        return _with_email(self._send("GET", "?" + urlencode({"email:in": email}), None), email)

    def _send(self, method: str, query: str, body: Any) -> Any:
        url = f"{self.api}/stores/{self.store_hash}/v3/customers{query}"
        content = to_json(body) if body is not None else None
        return request_json(self.resolver, method, url, {"X-Auth-Token": self.access_token}, content)


def _with_email(answer: Any, email: str) -> list[int]:
    """Return the ids of exactly this address's customers: the filter of the API takes a list. Raises ProviderUnavailable."""
    customers = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(customers, list):
        raise ProviderUnavailable("the store answered no customers")
    same = [
        customer
        for customer in customers
        if isinstance(customer, dict) and str(customer.get("email")).lower() == email.lower()
    ]
    return [customer["id"] for customer in same if type(customer.get("id")) is int]
