"""What a relying party is told of a provider."""

from dataclasses import dataclass

SECRET = "s3cret of the shop: %+&ü"  # what form-encoding changes
PASSWORD = "Correct-horse-7-battery"
CALLBACK = "http://127.0.0.1:9/cb"
BYE = "http://127.0.0.1:9/bye"


@dataclass(frozen=True)
class Provider:
    """What a relying party is told, and no more: the issuer, its id and its secret."""

    issuer: str
    client_id: str
    secret: str | None
