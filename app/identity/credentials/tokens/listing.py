"""An account's live access tokens, as the tenant's servers list them (interface account.md row A30)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.tokens import ActiveSession, ListSessions
from app.identity.credentials.tokens import service
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context, TokenHolder
from app.kit.clock import iso
from app.kit.user_agents import parse_user_agent


def live_tokens(context: Context, req: ListSessions) -> list[ActiveSession]:
    """Return the live tokens of the account that the request names.

    Raises 1118 without a name, 905 for an unknown token, 984 for an unknown account, 1055 where nothing lives.
    """
    held = service.by_account(context, _uid(context, req))
    if not held:
        raise e.SessionExpired
    return [_entry(holder) for holder in held]


def _uid(context: Context, req: ListSessions) -> str:
    if req.token:
        holder = service.find(context, req.token)
        if holder is None or holder.expires_at <= context.now:
            raise e.InvalidAccessToken
        return holder.uid
    if req.account_id:
        return accounts.require(context, req.account_id).uid
    if req.profile_id:
        return accounts.require_by_profile_id(context, req.profile_id).uid
    if "profileid" in {name.lower() for name, _ in context.raw.query_pairs}:
        raise e.ProfileIdMissing
    raise e.IdentifierMissing


def _entry(holder: TokenHolder) -> ActiveSession:
    address = holder.facts.get("address")
    agent = parse_user_agent(str(holder.facts.get("agent") or ""))
    return ActiveSession(
        access_token=holder.token_hash,
        browser=agent.browser,
        device=agent.device,
        os=agent.system,
        device_type=agent.device_type,
        ip=str(address) if address else None,
        login_date=iso(holder.issued_at),
    )
