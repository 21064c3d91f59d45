"""The provider settings that a relying party gets."""

from dataclasses import dataclass

SECRET = "s3cret of the shop: %+&ü"  # has characters that form encoding changes
SIGNING_SECRET = "a secret of 32 bytes or more, to sign with: ü"
PASSWORD = "Correct-horse-7-battery"
CALLBACK = "http://127.0.0.1:9/cb"
BYE = "http://127.0.0.1:9/bye"


@dataclass(frozen=True)
class ConformanceProvider:
    """All that a relying party knows: the issuer, its client id and its secret."""

    issuer: str
    client_id: str
    secret: str | None
