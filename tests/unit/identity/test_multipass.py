"""Shopify Multipass tokens."""

from __future__ import annotations

from app.identity.public_api.storefronts import multipass
from tests.support.fakes.storefronts import MULTIPASS_SECRET

MADE_BY_OPENSSL = (
    "AAECAwQFBgcICQoLDA0OD7oCT7tLdN86OT5oKN11jARIxmia_JjndNbVQ5hYcC7HfBi0MGK1BiCtuFAyAm0BJZGnM_0YcLkYj2tHVt1fG4IsI_vLOY5U"
    "TnngaHaLZXJsjD2SeDKqAQlOoadXH1Za8LvOgcFgU-Gn9JBnhuYtkgY="
)
"""openssl enc -aes-128-cbc -K … -iv 000102…0f | openssl dgst -sha256 -mac HMAC, over the same customer."""


def test_token_equals_that_of_openssl() -> None:
    customer = {"email": "ada@example.test", "created_at": "2026-01-01T00:00:00+00:00"}
    assert multipass.token(MULTIPASS_SECRET, customer, bytes(range(16))) == MADE_BY_OPENSSL
