"""The two protocols of applications."""

from enum import StrEnum


class ClientProtocol(StrEnum):
    """The protocol of an application, as its settings name it."""

    OPENID = "openid"
    OAUTH = "oauth"

    @property
    def segment(self) -> str:
        """Its name in the addresses of an issuer."""
        return "oidc" if self is ClientProtocol.OPENID else "oauth"

    @classmethod
    def of_segment(cls, segment: str) -> "ClientProtocol":
        return cls.OAUTH if segment == cls.OAUTH.segment else cls.OPENID
