"""Linked identities.

Programs present the tokens that a browser got at a provider.
"""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.auth import ACCESS_TOKEN, API_KEY, CREDENTIALS, READ
from app.contract.catalogue import operation
from app.contract.error_groups import REQUIRED_ACTIONS
from app.contract.federation.connections import NAMES
from app.contract.profile import Profile
from app.contract.shared_parameters import AccessTokenQuery, FieldSelection, WebhookSuppression
from app.contract.shared_responses import Deleted, Posted
from app.contract.sign_in.sign_in_operations import Login
from app.kit.operations.wire import From

Query = From.QUERY
Guid = Annotated[str | None, Field(max_length=100)]
Name = Annotated[str | None, Field(max_length=200)]

PROVIDERS = frozenset(NAMES)
"""Providers that a tenant can configure (seed: Update social provider configuration)."""


class Ping(FieldSelection):
    """The client GUID that the browser took to the provider."""

    client_guid: Annotated[str | None, Query, Field(max_length=100)] = None
    verification_url: Annotated[str | None, Query, Field(max_length=2_000)] = None
    email_template: Annotated[str | None, Query, Field(max_length=100)] = None
    welcome_email_template: Annotated[str | None, Query, Field(max_length=100)] = None


class Link(AccessTokenQuery, WebhookSuppression):
    """`candidatetoken`, with which a browser came back from a provider, or the client GUID that it was led there with."""

    candidate_token: Annotated[str | None, Field(max_length=2_000)] = None
    client_guid: Guid = None


class LinkByGuid(AccessTokenQuery, WebhookSuppression):
    client_guid: Guid = None


class Unlink(AccessTokenQuery, WebhookSuppression):
    """`Provider` and `ID` of an identity, as the profile has them."""

    provider: Name = None
    provider_id: Name = None


class RefreshProfile(AccessTokenQuery):
    """The access token of a sign-in through the provider; it says which identity is read."""


LINK_ERRORS = (
    errors.NotLinkable, errors.IdentityTaken, errors.AccountLinkingOff, errors.NoCallbackLoginOff, errors.WrongClientGuid,
    errors.PrivacyPolicyOutdated,
)  # fmt: skip

sign_in = operation(
    "linking.sign_in", "GET /identity/v2/auth/account/ping", Ping, Login, auth=API_KEY, row="U13",
    errors=(*REQUIRED_ACTIONS, errors.LoginNotAllowed, errors.NoCallbackLoginOff, errors.WrongClientGuid),
    summary="Finish a social sign-in without a callback",
    description="Returns the session of a social sign-in that your app started in a browser with `clientguid`. Poll it while the "
    "browser is open.",
)  # fmt: skip
link = operation(
    "linking.link", "POST /identity/v2/auth/socialidentity", Link, Posted, auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U29",
    errors=(*LINK_ERRORS, errors.WrongCandidate),
    summary="Connect a social identity",
    description="Connects the identity of a finished social sign-in to the signed-in account, so that it can sign in with either. "
    "`candidatetoken` is the access token of the social sign-in.",
)  # fmt: skip
link_by_guid = operation(
    "linking.link_by_guid", "POST /identity/v2/auth/socialidentity/ping", LinkByGuid, Posted,
    auth=API_KEY & ACCESS_TOKEN, access=CREDENTIALS, row="U30", errors=LINK_ERRORS,
    summary="Connect a social identity without a callback",
    description="Connects the identity of a social sign-in that your app started in a browser with `clientguid` to the signed-in "
    "account.",
)  # fmt: skip
_UNLINK_ERRORS = (
    errors.NothingToUnlink, errors.UnknownIdentity, errors.UnknownProvider, errors.OwnIdentityRequired, errors.IdentityElsewhere,
    errors.LastSignInMethod, errors.PrivacyPolicyOutdated,
)  # fmt: skip
unlink = operation(
    "linking.unlink", "DELETE /identity/v2/auth/socialidentity", Unlink, Deleted, auth=API_KEY & ACCESS_TOKEN,
    access=CREDENTIALS, row="U31", errors=_UNLINK_ERRORS,
    summary="Disconnect a social identity",
    description="Disconnects an identity from the signed-in account. The last way to sign in can’t be disconnected.",
)  # fmt: skip
refresh_profile = operation(
    "linking.refresh_profile", "GET /api/v2/userprofile/refresh", RefreshProfile, Profile, auth=API_KEY & ACCESS_TOKEN,
    access=READ, row="U89", errors=(errors.NoProviderProfile, errors.ProviderFailed, errors.TooManyRequests),
    summary="Refresh the social profile",
    description="Reads the profile from the provider of the access token’s sign-in again and returns the updated profile.",
)  # fmt: skip
