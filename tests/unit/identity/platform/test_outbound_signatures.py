"""Receivers verify our requests with their own libraries, or as they verified those of the older interface."""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import UTC, datetime

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from standardwebhooks import Webhook, WebhookVerificationError

from app.identity.platform.outbound import signatures

BODY = '{"HookName":"login","Data":{"FirstName":"Zoë"}}'.encode()
NEW, FORMER, FOREIGN = (f"whsec_{base64.b64encode(bytes([number]) * 32).decode()}" for number in (1, 2, 3))


def headers(*secrets: str, key: Ed25519PrivateKey | None = None) -> dict[str, str]:
    sign = key.sign if key is not None else None
    return signatures.standard_headers("delivery-1", datetime.now(UTC), BODY, secrets, sign)


@pytest.mark.parametrize("secret", [NEW, FORMER])
def test_either_secret_of_a_rotation_verifies(secret: str) -> None:
    signed = headers(NEW, FORMER, key=Ed25519PrivateKey.generate())

    assert Webhook(secret).verify(BODY, signed) == {"HookName": "login", "Data": {"FirstName": "Zoë"}}


def test_foreign_secret_does_not_verify() -> None:
    with pytest.raises(WebhookVerificationError):
        Webhook(FOREIGN).verify(BODY, headers(NEW, FORMER))


@pytest.mark.parametrize("changed", ["webhook-id", "webhook-timestamp"])
def test_changed_id_or_time_does_not_verify(changed: str) -> None:
    signed = headers(NEW)
    signed[changed] = str(int(signed["webhook-timestamp"]) - 1)

    with pytest.raises(WebhookVerificationError):
        Webhook(NEW).verify(BODY, signed)


def test_published_key_verifies_asymmetric_signature() -> None:
    key = Ed25519PrivateKey.generate()
    signed = headers(NEW, key=key)
    published = signatures.public_key_text(key.public_key().public_bytes_raw())
    content = b".".join((signed["webhook-id"].encode(), signed["webhook-timestamp"].encode(), BODY))
    version, _, signature = signed["webhook-signature"].split(" ")[-1].partition(",")
    public = Ed25519PublicKey.from_public_bytes(base64.b64decode(published.removeprefix("whpk_")))

    assert version == "v1a"
    public.verify(base64.b64decode(signature), content)
    with pytest.raises(InvalidSignature):
        public.verify(base64.b64decode(signature), content + b" ")


def test_older_header_is_upper_case_hex_of_the_raw_body() -> None:
    expected = hmac.new(b"secret-of-the-tenant", BODY, hashlib.sha256).hexdigest().upper()

    assert signatures.legacy_signature(BODY, "secret-of-the-tenant") == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "whsec_", "whsec_c2hvcnQ=", "whsec_not base64", f"whsec_{'A' * 200}", NEW.removeprefix("whsec_"),
        f"whpk_{NEW.removeprefix('whsec_')}",
    ],
)  # fmt: skip
def test_malformed_secret_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)base64|padding|ASCII"):
        signatures.key_of(text)
