"""Subject types: public or pairwise account identifiers for an application (OpenID Connect Core section 8)."""

import re
from collections.abc import Iterable
from typing import Final, Literal
from urllib.parse import urlsplit

from app.contract.configuration_model import ConfigurationModel

_LOOPBACK: Final = re.compile(r"(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)\.?\Z")
SubjectType = Literal["public", "pairwise"]


class SubjectSettings(ConfigurationModel):
    """The identifiers that an application gets."""

    subject_type: SubjectType = "public"
    sector_identifier_uri: str | None = None

    @property
    def is_pairwise(self) -> bool:
        """Whether its identifiers mean nothing to applications of other sectors."""
        return self.subject_type == "pairwise"


def sector_of(sector_identifier_uri: str | None, redirect_uris: Iterable[str]) -> str | None:
    """Return the sector: the host of the sector identifier, or else the one host of all redirect URIs.

    None: there is none, because redirect URIs name several hosts, or one has none but the loopback host, as those of native applications
    (OpenID Connect Core section 8.1).
    """
    if sector_identifier_uri is not None:
        return urlsplit(sector_identifier_uri).hostname
    hosts = {_host(uri) for uri in redirect_uris}
    return hosts.pop() if len(hosts) == 1 else None


def _host(uri: str) -> str | None:
    """Return the host of a web address; None for a loopback host, which anyone's application has."""
    host = urlsplit(uri).hostname if uri.startswith(("https://", "http://")) else None
    return None if host is None or _LOOPBACK.match(host) else host
