"""Management programs read and set up social providers (interface tenant-config.md section 9). The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors as e
from app.contract.connections import ConnectionSettings
from app.contract.resources import collection
from app.kit.resource import LIST, READ, SECRET, UPDATE, InOwnStore, Key
from app.kit.wire import Wire


class SocialProvider(Wire):
    """A social provider: FACEBOOK, GITHUB, GOOGLE, LINKEDIN or LIVE; for apps only APPLE, QQ, TWITTER or WECHAT; or a connection
    of a configuration file. `Key` is the client ID and `Secret` the client secret that the provider issued; responses mask
    the secret."""

    provider: Annotated[str, Key("provider")]
    is_active: bool = False
    key: Annotated[str, Field(max_length=500)] = ""
    secret: Annotated[str | None, SECRET, Field(max_length=2_000)] = None


class StoredProvider(ConnectionSettings):
    """A connection as the store returns it: without a key until the provider is set up."""

    provider: str = ""
    key: str = Field(default="", max_length=500)


PROVIDERS = collection(
    "social_providers", "/v2/manage/providers", SocialProvider, verbs=(LIST, READ, UPDATE), noun="social provider",
    about="Set the client ID and secret that the provider issued to offer sign-in with it.", scope="provider",
    unknown=e.BadField, backing=InOwnStore(), content=StoredProvider, ids=("provider",), partial=True, is_paged=False,
)  # fmt: skip
