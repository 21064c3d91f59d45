"""Management programs read and set up social providers. The docstrings are published."""

from typing import Annotated

from pydantic import AfterValidator, Field

from app.contract import errors
from app.contract.federation.connections import ConnectionSettings
from app.contract.resources import collection
from app.contract.tenants.key_formats import p256_private_key, unless_masked
from app.kit.operations.wire import Wire
from app.kit.resources.resource import LIST, READ, SECRET, UPDATE, InOwnStore, Key, StoredAs


class AppleSecretConfiguration(Wire):
    """What Apple issued for Sign in with Apple. `Certificate` is the private key in PEM; responses mask it."""

    certificate: Annotated[
        str | None, SECRET, Field(max_length=5_000), AfterValidator(unless_masked(p256_private_key))
    ] = None
    key_identifier: Annotated[str, Field(max_length=100)] = ""
    service_id: Annotated[str, Field(max_length=200)] = ""
    bundle_id: Annotated[str, Field(max_length=200)] = ""
    team_id: Annotated[str, Field(max_length=100)] = ""


class SocialProvider(Wire):
    """A social provider. `Key` is the client ID and `Secret` the client secret that the provider issued; responses mask the secret.
    `ExtraField1` is for LIVE (the ID of a directory, or “organizations” or “common”; default: personal accounts), SALESFORCE (the
    login host; default: `login.salesforce.com`) and TWITTER. `AppleSecretConfiguration` is for APPLE only: with it, Gatehouse
    signs the client secret, and pages offer Apple."""

    provider: Annotated[str, Key("provider")]
    is_active: bool = False
    key: Annotated[str, Field(max_length=500)] = ""
    secret: Annotated[str | None, SECRET, Field(max_length=2_000)] = None
    extra_field1: Annotated[str, Field(max_length=500)] = ""
    extra_field2: Annotated[str, Field(max_length=500)] = ""
    apple_secret_configuration: Annotated[AppleSecretConfiguration, StoredAs("apple")] = AppleSecretConfiguration()


class StoredSocialProvider(ConnectionSettings):
    """A connection as the store returns it: without a key until the provider is set up."""

    provider: str = ""
    key: str = Field(default="", max_length=500)


PROVIDERS = collection(
    "social_providers", "/v2/manage/providers", SocialProvider, verbs=(LIST, READ, UPDATE), noun="social provider",
    about="Set the client ID and secret that the provider issued to offer sign-in with it.", scope="provider",
    unknown=errors.BadField, backing=InOwnStore(), content=StoredSocialProvider, ids=("provider",), partial=True, is_paged=False,
)  # fmt: skip
