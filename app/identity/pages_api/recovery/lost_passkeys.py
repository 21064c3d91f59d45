"""Recovery from a lost passkey on the pages, by a mailed link."""

from __future__ import annotations

from app.contract import errors
from app.contract.page_models import LinkLookup, LinkToken, LinkView
from app.contract.passkeys import passkey_pages
from app.contract.shared_responses import Posted
from app.contract.steps import StepResponse
from app.identity.authentication.recovery import passkey_reset, recovery_requests
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.authentication.sign_in.passkeys.passkey_sign_in import require_enabled
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.passkeys.options import DISCOVERABLE
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.pages_api.interactions import next_step
from app.identity.platform.context import Context


@passkey_pages.lost.implements
def forgot(context: Context, req: passkey_pages.LostPasskeyRequest) -> Posted:
    """Mail a link, with the same response for identifiers with and without passkeys."""
    require_enabled(context)
    recovery_requests.count_request(context)
    identifier = sign_in_identifiers.guess(context.tenant.settings, req.identifier)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    passkey_reset.send_from_page(context, lookup, req.interaction_id)
    return Posted()


@passkey_pages.read_lost.implements
def read_lost(context: Context, req: LinkLookup) -> LinkView:
    stored = one_time_tokens.find_link(context, passkey_reset.KIND, req.token)
    account = account_store.by_uid(context, stored.uid) if stored is not None else None
    if stored is None or account is None:
        return LinkView(state="unknown")
    context.audit.record("passkey.link_looked_at", uid=stored.uid, by="machine" if req.is_machine else "browser")
    label = str(stored.facts.get("email") or "")
    try:
        passkey_reset.peek(context, req.token)
    except errors.UsedLink:
        return LinkView(state="used", label=label)
    except (errors.ExpiredLink, errors.AccountBlocked):
        return LinkView(state="expired", label=label)
    return LinkView(state="open", label=label)


@passkey_pages.begin_lost.implements
def begin_lost(context: Context, req: LinkToken) -> passkey_pages.PasskeyOptions:
    return passkey_pages.PasskeyOptions(options=passkey_reset.begin_with_link(context, req.token, DISCOVERABLE))


@passkey_pages.finish_lost.implements
def finish_lost(context: Context, req: passkey_pages.FinishReplacementRequest) -> StepResponse:
    """Store the new passkey without a session; the user signs in with it next."""
    passkey_reset.finish_with_link(context, req.token, req.credential)
    return next_step.open_return(context, None, None).model_copy(update={"ends_session": True})
