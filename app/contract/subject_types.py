"""Which identifier an application gets for an account (OpenID Connect Core section 8)."""

from collections.abc import Iterable
from typing import Literal
from urllib.parse import urlsplit

from app.contract.configuration_model import ConfigurationModel

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

    None: there is none, because redirect URIs name several hosts, or one has no host, as those of native applications
    (OpenID Connect Core section 8.1).
    """
    if sector_identifier_uri is not None:
        return urlsplit(sector_identifier_uri).hostname
    hosts = {urlsplit(uri).hostname if uri.startswith(("https://", "http://")) else None for uri in redirect_uris}
    return hosts.pop() if len(hosts) == 1 else None
