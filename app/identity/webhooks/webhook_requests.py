"""The request of one try: a webhook's target with what the tenant adds, signed; and what of it the log of deliveries may show."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final
from urllib.parse import quote, quote_plus, urlencode

from pydantic_core import to_json

from app.contract.webhooks.webhook_operations import FORMER_SIGNING_SECRET, SIGNING_SECRET
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys.signing_algorithms import WEBHOOKS as WEBHOOK_KEY
from app.identity.platform.context import Context
from app.identity.platform.outbound import signatures
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.services import KeySet
from app.identity.webhooks import payloads
from app.kit.resources.resource_values import value_at

MASK: Final = "********"
_BASIC, _BEARER = "Basic", "Bearer"
_MIN_STRUCK_OUT: Final = 4
"""Shorter values would strike out parts of words."""


@dataclass(frozen=True)
class WebhookRequest:
    """A request that is ready to be sent.

    Attributes:
        secrets: values that the tenant adds, which no log shows.
    """

    url: str
    headers: dict[str, str]
    body: bytes
    secrets: frozenset[str]

    def struck_out(self, text: str, *, is_cut: bool = False) -> str:
        """Return a text, such as an answer that repeats the request, without the secrets, also as a URL or JSON has them.

        Args:
            is_cut: whether more may have followed: the end may be the beginning of a secret.
        """
        for form in self._forms:
            text = text.replace(form, MASK)
        return _without_beginning(text, self._forms) if is_cut else text

    @cached_property
    def _forms(self) -> list[str]:
        """How a target may repeat the secrets, longer ones first."""
        return sorted({form for secret in self.secrets for form in _forms_of(secret)}, key=len, reverse=True)


def _forms_of(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in a URL, in JSON and in the name of a header; nothing for a short one."""
    if len(secret) >= _MIN_STRUCK_OUT:
        yield from (secret, quote(secret), quote(secret, safe=""), quote_plus(secret))
        yield from (to_json(secret).decode()[1:-1], json.dumps(secret)[1:-1], secret.lower())


def _without_beginning(text: str, forms: Iterable[str]) -> str:
    """Return a text without the longest beginning of a secret at its end."""
    at = min((_beginning_at(text, form) for form in forms), default=len(text))
    return f"{text[:at]}{MASK}" if at < len(text) else text


def _beginning_at(text: str, form: str) -> int:
    """Return where the end of a text is the beginning of a secret; its length if it is none."""
    stem = form[:_MIN_STRUCK_OUT]
    at = text.find(stem, max(0, len(text) - len(form) + 1))
    while at >= 0 and not form.startswith(text[at:]):
        at = text.find(stem, at + 1)
    return at if at >= 0 else len(text)


class Signing:
    """What signs a tenant's deliveries; read before a try, which needs no connection to the store."""

    def __init__(self, context: Context) -> None:
        self._tenant, self._encryption = context.tenant, context.services.encryption
        self._keys: KeySet = context.services.signing_keys.current(context.work, WEBHOOK_KEY)

    def headers(self, webhook: Item, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
        """Return the header of older receivers and those of Standard Webhooks."""
        key: Any = self._keys.signers[WEBHOOK_KEY].key.raw_value
        standard = signatures.standard_headers(message_id, now, body, secrets_in_force(webhook, now), key.sign)
        return {"signature": signatures.legacy_signature(body, self._legacy_secret(webhook)), **standard}

    def _legacy_secret(self, webhook: Item) -> str:
        """Return the API secret, or the webhook's own secret where it names one."""
        if webhook.content.get("secret_name"):
            return webhook.secrets[SIGNING_SECRET]
        associated_data = tenant_writes.api_secret_associated_data(self._tenant.tenant_id)
        return self._encryption.decrypt(self._tenant.sealed_api_secret, associated_data).decode()


def secrets_in_force(webhook: Item, now: datetime) -> list[str]:
    """Return the webhook's signing secret, and its former one for a while after a rotation."""
    until = webhook.content.get("former_signing_secret_until")
    is_former_in_force = until is not None and now < datetime.fromisoformat(until)
    names = (SIGNING_SECRET, FORMER_SIGNING_SECRET) if is_former_in_force else (SIGNING_SECRET,)
    return [webhook.secrets[name] for name in names if name in webhook.secrets]


def request_of(signing: Signing, webhook: Item, message_id: str, body: str, now: datetime) -> WebhookRequest:
    """Return the request of one try. The tenant's headers come first: none replaces one of ours."""
    content, encoded = webhook.content, body.encode()
    added, parameters = content.get("headers", {}), content.get("query_params", {})
    authorization = _authorization(webhook)
    headers = {
        **added,
        **authorization,
        "User-Agent": signatures.USER_AGENT,
        "Accept": "*/*",
        "Content-Type": payloads.content_type(webhook),
        **signing.headers(webhook, message_id, encoded, now),
    }
    credentials = (value.partition(" ")[2] for value in authorization.values())
    secrets = {*added.values(), *parameters.values(), *credentials, *webhook.secrets.values()}
    return WebhookRequest(_url(content["target_url"], parameters), headers, encoded, frozenset(secrets))


def shown(request: WebhookRequest, webhook: Item) -> dict[str, Any]:
    """Return what the log of deliveries shows of a request beside its body: with the names of what the tenant adds, not the values."""
    content = webhook.content
    hidden = {*content.get("headers", {}), *_authorization(webhook)}
    masked = dict.fromkeys(content.get("query_params", {}), MASK)
    headers = {name: MASK if name in hidden else value for name, value in request.headers.items()}
    return {"url": _url(content["target_url"], masked), "headers": headers}


def _url(target: str, parameters: dict[str, str]) -> str:
    if not parameters:
        return target
    return f"{target}{'&' if '?' in target else '?'}{urlencode(parameters, safe='*')}"


def _authorization(webhook: Item) -> dict[str, str]:
    """Return the header of the webhook's authentication (RFC 7617, RFC 6750); none without its part."""

    def value(*path: str) -> str:
        name = ".".join(("authentication", *path))
        return str(webhook.secrets.get(name) or value_at(webhook.content, ("authentication", *path)) or "")

    scheme = value_at(webhook.content, ("authentication", "auth_type"))
    if scheme == _BASIC:
        pair = f"{value('basic_auth', 'username')}:{value('basic_auth', 'password')}"
        return {"Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
    token = value("bearer_token", "token")
    return {"Authorization": f"Bearer {token}"} if scheme == _BEARER and token else {}
