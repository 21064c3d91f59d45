"""The parameters of a response that grants: a code, tokens, or both."""

from __future__ import annotations

from app.contract.oauth.response_types import CODE, is_front_channel
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth.authorize.request import CheckedRequest
from app.identity.protocols.oauth.authorize.responses import front_channel_tokens
from app.identity.protocols.oauth.tokens import authorization_codes
from app.identity.protocols.oauth.tokens.authorization_codes import GrantedRequest
from app.kit import randomness


def issue(
    context: Context,
    client: Application,
    granted: tuple[CheckedRequest, GrantedRequest],
    session: BrowserSession,
    account: Account | None,
    membership: Membership | None,
) -> dict[str, str | None]:
    """Issue the code and the tokens. Raises RefusedByRedirect if the session has ended since."""
    request, granted_request = granted
    family_id = randomness.token(18)
    code = None
    if CODE in request.response_type.split():
        code = authorization_codes.issue(
            context,
            client_id=client.client_id,
            uid=session.uid,
            session_id=session.session_id,
            family_id=family_id,
            request=granted_request,
        )
    sent: dict[str, str | None] = {"code": code}
    if is_front_channel(request.response_type) and account is not None:
        stored = (code, family_id) if code is not None else None
        sent |= front_channel_tokens.parameters(
            context, client, request, session, account, stored, granted_request.claims, membership
        )
    return sent
