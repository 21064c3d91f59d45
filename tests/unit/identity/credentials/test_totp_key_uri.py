"""The address that an authenticator app reads from the QR code, as the library of another author writes and reads it."""

from __future__ import annotations

import pyotp
import pytest

from app.identity.credentials.second_factors.authenticators.totp import key_uri

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXPJBSW"


@pytest.mark.parametrize(
    "label", ["ada@example.com", "+4915112345678", "a b/c?d&e=f#g:h", "\u00e4d\u00e4", "\u5f20\u4f1f"]
)
@pytest.mark.parametrize("issuer", ["Acme", "Acme & Sons: Z\u00fcrich/1", "100% + more"])
def test_app_reads_label_issuer_and_secret(label: str, issuer: str) -> None:
    uri = key_uri(SECRET, label, issuer)
    assert uri == pyotp.TOTP(SECRET).provisioning_uri(name=label, issuer_name=issuer)
    read = pyotp.parse_uri(uri)
    assert read.secret == SECRET
    if ":" not in label + issuer:
        assert (read.name, read.issuer) == (label, issuer)
