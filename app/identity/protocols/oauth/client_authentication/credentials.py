"""Reads the credentials of a client from a request: in the Authorization header or in the body (RFC 6749 section 2.3.1)."""

from __future__ import annotations

from base64 import b64decode
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from urllib.parse import unquote, unquote_plus

from app.contract.oauth.oauth_errors import InvalidClient, InvalidRequest
from app.identity.protocols.oauth.client_authentication import client_assertions
from app.kit.operations.request_parsing import RawRequest


class Carrier(Enum):
    """The part of a request that authenticates the client."""

    HEADER = "header"  # HTTP Basic
    BODY = "body"  # client_secret
    ASSERTION = "assertion"  # client_assertion
    NOTHING = "nothing"  # client_id alone


@dataclass(frozen=True)
class ClientCredentials:
    """The credentials of a request, and the part of the request that contained them.

    There are several candidate secrets where the header's encoding is ambiguous.
    """

    client_id: str
    carrier: Carrier
    secrets: tuple[str, ...] = field(default=(), repr=False)
    assertion: str = field(default="", repr=False)


def read(raw: RawRequest, body: dict[str, Any]) -> ClientCredentials | None:
    """Return the credentials of the request, None without any.

    Raises:
        InvalidRequest: they are malformed, or there are several (RFC 6749 section 2.3).
        InvalidClient: the assertion is malformed, or names another client than `client_id`.
    """
    members = body
    if not all(map(str.islower, body)):
        members = {**{name.lower(): value for name, value in body.items()}, **body}  # the exact spelling wins
    named, secret = _member(members, "client_id"), _member(members, "client_secret")
    scheme, _, text = raw.headers.get("authorization", "").partition(" ")
    kind, assertion = _member(members, "client_assertion_type"), _member(members, "client_assertion")
    if kind is not None or assertion is not None:
        if secret is not None or scheme.lower() == "basic":
            raise InvalidRequest("The client authenticates in two ways.")
        return _asserted(named, kind, assertion)
    if scheme.lower() != "basic":
        if named is None:
            return None
        return (
            ClientCredentials(named, Carrier.BODY, (secret,)) if secret else ClientCredentials(named, Carrier.NOTHING)
        )
    basic = _basic(text)
    if secret is not None or named not in (None, basic.client_id):
        raise InvalidRequest("The client is named twice.")
    return basic


def _asserted(named: str | None, kind: str | None, assertion: str | None) -> ClientCredentials:
    """Read an assertion (RFC 7521 section 4.2)."""
    if kind is None or assertion is None:
        raise InvalidRequest.names("client_assertion" if assertion is None else "client_assertion_type")
    if kind != client_assertions.TYPE:
        raise InvalidClient("The client_assertion_type is not supported.")
    subject = client_assertions.subject(assertion)
    if named not in (None, subject):
        raise InvalidClient("The client_id is not the sub of the client_assertion.")
    return ClientCredentials(subject, Carrier.ASSERTION, assertion=assertion)


def _basic(text: str) -> ClientCredentials:
    """Read HTTP Basic: both parts are form-encoded before they are joined (RFC 6749 section 2.3.1).

    Many clients do not encode them, and some use Latin-1; a secret is compared both decoded and as sent.
    """
    try:
        joined = b64decode(text.strip(), validate=True)
    except ValueError:  # also for letters that are not ASCII
        raise InvalidRequest("The Authorization header is malformed.") from None
    try:
        client_id, colon, secret = joined.decode().partition(":")
    except UnicodeDecodeError:
        client_id, colon, secret = joined.decode("latin-1").partition(":")
    client_id = unquote(client_id)
    if not colon or not client_id or not client_id.isprintable():
        raise InvalidRequest("The Authorization header is malformed.")
    if not secret:
        return ClientCredentials(client_id, Carrier.NOTHING)
    return ClientCredentials(client_id, Carrier.HEADER, tuple({unquote_plus(secret), secret}))


def _member(members: dict[str, Any], name: str) -> str | None:
    value = members.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise InvalidRequest(f"The {name} is not formatted correctly.")
    return value
