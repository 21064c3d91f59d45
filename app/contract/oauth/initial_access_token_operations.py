"""Management programs create initial access tokens, with which applications register themselves (RFC 7591 section 3).

The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.oauth.registration_settings import MAX_DAYS, MAX_TOKENS, MAX_USES, TokenName
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import CREATE, CREATED_AT, DELETE, FIXED, LIST, ONCE, READ, READ_ONLY, InOwnStore, Key


class InitialAccessToken(Wire):
    """A token that lets applications register themselves. They send it as the bearer token of `POST /api/oidc/register`, at most
    `MaxUses` times. Only the response that creates it has `Token`; later ones mask it. If you delete the token, its
    applications stay registered."""

    name: Annotated[TokenName, Key("name")]
    token: Annotated[str, ONCE] = ""
    max_uses: Annotated[int, FIXED, Field(ge=1, le=MAX_USES)] = 1
    expires_in_days: Annotated[int, FIXED, Field(ge=1, le=MAX_DAYS)] = 7
    uses: Annotated[int, READ_ONLY] = 0
    expires_at: Annotated[str, READ_ONLY] = ""
    created_date: Annotated[str | None, CREATED_AT] = None


TOKENS = collection(
    "initial_access_tokens", "/v2/manage/initial-access-tokens", InitialAccessToken, verbs=(LIST, CREATE, READ, DELETE),
    noun="initial access token",
    about="With an initial access token applications register themselves at `POST /api/oidc/register`. Applications that "
    "registered with it stay when it’s deleted.",
    scope="client", exists=errors.InitialAccessTokenExists, unknown=errors.UnknownInitialAccessToken,
    backing=InOwnStore(), max_items=MAX_TOKENS, has_default_page=True,
)  # fmt: skip
