"""The certificates that a SAML connection trusts: stated ones, those of its provider's metadata and, for some time, former ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.platform import saml_certificates
from app.identity.platform.saml.trusted_keys import TrustedKeys

OVERLAP: Final = timedelta(days=14)
"""How long a certificate stays trusted after it left the provider's metadata: the provider may sign with it until it has changed over."""
MAX_CERTIFICATES: Final = 8
_STORED: Final = "idp_certificates"
_FIRST: Final = "idp_certificate"


@dataclass(frozen=True)
class ProviderCertificate:
    """A certificate in PEM, and until when it is trusted if it left the metadata."""

    pem: str
    trusted_until: datetime | None = None

    @property
    def expires_at(self) -> datetime:
        return saml_certificates.validity(self.pem)[1]


def of_content(content: Mapping[str, Any], now: datetime) -> tuple[ProviderCertificate, ...]:
    """Return the certificates that a stored connection trusts now, those of the metadata first."""
    stored = content.get(_STORED)
    if stored is None:  # an earlier version stored one, as it was typed
        stored = [{"pem": pem} for pem in saml_certificates.read_all(content[_FIRST])]
    found = [ProviderCertificate(one["pem"], _instant(one.get("until"))) for one in stored]
    return tuple(one for one in found if one.trusted_until is None or one.trusted_until > now)


def keys_of(content: Mapping[str, Any], now: datetime) -> TrustedKeys:
    return TrustedKeys(tuple(one.pem for one in of_content(content, now)))


def stored_as(certificates: Iterable[ProviderCertificate]) -> dict[str, Any]:
    """Return the members of a connection's content that hold these certificates."""
    found = list(certificates)
    stored = [{"pem": one.pem, "until": one.trusted_until.isoformat() if one.trusted_until else None} for one in found]
    return {_STORED: stored, _FIRST: found[0].pem}


def without_end(pems: Iterable[str]) -> tuple[ProviderCertificate, ...]:
    """Return certificates that an administrator states, or that the first metadata has."""
    return tuple(map(ProviderCertificate, pems))


def renewed(
    present: Iterable[ProviderCertificate], pems: Iterable[str], now: datetime
) -> tuple[ProviderCertificate, ...]:
    """Return the certificates of new metadata, and the present ones that it lacks, which stay trusted for `OVERLAP`.

    Where these are too many, the former ones that end first go.
    """
    announced = without_end(pems)
    names = {one.pem for one in announced}
    former = [
        replace(one, trusted_until=one.trusted_until or now + OVERLAP)
        for one in present
        if one.pem not in names and (one.trusted_until is None or one.trusted_until > now)
    ]
    former.sort(key=lambda one: one.trusted_until or now, reverse=True)
    return (*announced, *former)[:MAX_CERTIFICATES]


def last_expiry(content: Mapping[str, Any], now: datetime) -> datetime:
    """Return when the last of the certificates that stay trusted expires: nobody signs in afterwards."""
    found = of_content(content, now)
    return max(one.expires_at for one in [one for one in found if one.trusted_until is None] or found)


def _instant(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
