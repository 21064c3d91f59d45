"""The links of a security alert: "this was not me" and "it was me"."""

from __future__ import annotations

from dataclasses import replace

from app.contract.messages.models import MailKind
from app.contract.page_models import LinkLookup, LinkToken
from app.contract.recovery import recovery_pages
from app.contract.recovery.recovery_pages import RecoveryLinkView
from app.contract.steps import NewPasswordStep, StepResponse
from app.identity.authentication.recovery import account_restoration, password_reset
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import PendingRecovery
from app.identity.authentication.sign_in.interactions import InteractionKind
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.credentials import reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.reset_messages import MAIL
from app.identity.directory.accounts import account_store
from app.identity.pages_api.recovery import password_and_pin
from app.identity.platform.context import Context
from app.kit import randomness


@recovery_pages.read_security_alert.implements
def read_security_alert(context: Context, req: LinkLookup) -> RecoveryLinkView:
    view = password_and_pin.link_view(context, Purpose.ALARM, req)
    link = one_time_tokens.find_link(context, Purpose.ALARM, req.token)
    account = account_store.by_uid(context, link.uid) if link is not None else None
    if link is None or account is None:
        return view
    if view.state == "open" and account_restoration.is_closed(context, account):
        return view.model_copy(update={"state": "closed"})
    is_removed = view.state == "expired" and not reset_messages.is_still_recipient(account, link)
    return view.model_copy(update={"state": "moved"}) if is_removed else view


@recovery_pages.confirm_change.implements
def confirm_change(context: Context, req: LinkToken) -> RecoveryLinkView:
    password_reset.count_attempt(context)
    ended = account_restoration.acknowledge(context, req.token)
    return RecoveryLinkView(state="own", label=str(ended.facts["email"]))


@recovery_pages.revert_change.implements
def revert_change(context: Context, req: LinkToken) -> StepResponse:
    """Revert the change: lock out the password that the attacker set, and let the owner of the mailbox set a new one."""
    password_reset.count_attempt(context)
    one_time_tokens.peek_link(context, Purpose.ALARM, req.token)
    context.work.release_connection()
    account, link_token = account_restoration.restore(context, req.token, context.hashing.hash(randomness.token()))
    end_sessions_and_tokens(context, account)
    interaction, binding = interactions.start(context, InteractionKind.RETURN)
    state = PendingRecovery(
        password_and_pin.label(link_token, account), account.uid, MAIL, int(context.now.timestamp())
    )
    if account.email and password_and_pin.try_send(context, interaction.interaction_id, state, account, MailKind.ALARM):
        interaction = interactions.save(context, interaction, replace(interaction.state, recovery=state))
        return password_and_pin.step(context, interaction, state).model_copy(
            update={"binding": binding, "ends_session": True}
        )
    # No mail can be sent, and the link of the alert already verified the mailbox.
    token = reset_messages.create_page_token(
        context, account, one_time_tokens.RESET_MINUTES, reason=password_and_pin.CODE, email=account.email
    )
    return StepResponse(
        step=NewPasswordStep(token=token),
        interaction_id=interaction.interaction_id,
        binding=binding,
        ends_session=True,
    )
