"""Asks the owner of an account to sign in before the identity of a trusted provider with its address is linked (decision 0429)."""

from __future__ import annotations

from app.contract.accounts.models import ReauthenticationOptions
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, StepResponse
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.workflows import denials
from app.identity.directory.accounts import account_store, accounts
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.pages_api.interactions import next_step, pending_identities, reauthentication_methods
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views


def begin(context: Context, interaction: Interaction, identity: ProviderIdentity) -> StepResponse:
    """Keep the identity until the account with its address signs in by another method, and ask for that."""
    account = accounts.by_email(context, identity.email or "")
    if account is None:  # deleted meanwhile
        return next_step.advance(context, interaction, None)
    interaction = pending_identities.await_confirmation(context, interaction, identity, account.uid)
    return step(context, interaction) or StepResponse(
        step=LoginStep(reason=LoginReason.CONNECTS), interaction_id=interaction.interaction_id
    )


def step(context: Context, interaction: Interaction) -> StepResponse | None:
    """Return the step by which the owner signs in; None if no identity waits for it, or where an address is no name to sign in with.

    It shows nothing of the account but the address, which the provider verified, and the kinds of its methods.
    """
    link = pending_identities.awaited_link(context, interaction)
    account = account_store.by_uid(context, link.uid) if link is not None else None
    email = link.claimed.email if link is not None else None
    if link is None or account is None or not email or "email" not in context.tenant.settings.login_kinds:
        return None
    options = ReauthenticationOptions(
        person=oauth_views.person(account, shown_as=email),
        methods=reauthentication_methods.confirmation_methods(context, account, email),
        connects=offered_connections.title_for(context, link.claimed.provider),
    )
    denial = interaction.state.denial
    form = LoginStep(
        reason=LoginReason.CONNECTS,
        reauthentication=options,
        denial=denials.text_of(context, denial) if denial is not None else None,
    )
    return StepResponse(step=form, interaction_id=interaction.interaction_id)
