"""The userinfo endpoint (OpenID Connect Core section 5.3)."""

from __future__ import annotations

from app.contract.errors_oauth import InsufficientScope, InvalidToken
from app.contract.oauth_metadata import UserinfoResponse
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context
from app.identity.protocols.oauth import claims, issuers
from app.kit.wire import Document


def read(context: Context, app: str | None) -> UserinfoResponse | Document:
    """Return the claims that the access token's scope and the request's `claims` allow, signed where the client wants that.

    Raises:
        InvalidToken: the token is another application's than the address names, or its application or account is closed.
        InsufficientScope: the token was not asked for with `openid`.
    """
    holder = context.account
    client = context.application(client_id=holder.client_id) if holder.client_id else None
    scopes = holder.scope.split()
    if holder.client_id and (client is None or not client.settings.is_active):
        raise InvalidToken
    if client is None or "openid" not in scopes:
        raise InsufficientScope
    own = issuers.of_application(context, client)
    if app is not None and (app.lower(), issuers.OIDC) != (client.name.lower(), own.protocol):
        raise InvalidToken
    account = accounts.by_uid(context, holder.uid)
    if account is None or not account.is_active or account.is_deleted:
        raise InvalidToken
    asked = holder.facts.get("userinfo_claims")
    wanted = [*claims.names(scopes), *(asked if isinstance(asked, list) else ())]
    payload = {"sub": account.uid, **claims.of(accounts.profile_of(account), wanted)}
    if client.settings.signed_userinfo:
        issuer = own if app is not None else issuers.tenant_wide(context)
        text = context.services.signing_keys.sign(context.work, {**payload, "iss": issuer.url, "aud": client.client_id})
        return Document(text.encode(), "application/jwt")
    return UserinfoResponse.model_validate(payload)
