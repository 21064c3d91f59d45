"""Registers a person of an organization's connection whose account needs more than the provider tells (decision 0428)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.registration.registration_pages import RegisterRequest
from app.contract.step_reasons import LoginReason
from app.contract.steps import StepResponse
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.registration import account_registration
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.pages_api.interactions import next_step, pending_identities
from app.identity.pages_api.registration import typed_form
from app.identity.pages_api.sign_in import federated_login
from app.identity.platform.context import Context

if TYPE_CHECKING:
    from app.identity.authentication.passwordless.organization_account import CompletedForm


@connection_pages.register.implements
def register(context: Context, req: RegisterRequest) -> StepResponse:
    """Sign in as without a form, once it is complete: the organization's policy, its seats and the address are checked again, and
    the account, its membership and roles are made in one transaction.
    """
    interaction = next_step.open_interaction(context, req.interaction_id or "")
    if isinstance(interaction, StepResponse):
        return interaction
    pending = pending_identities.pending_for(context, interaction)
    if pending is None or not offered_connections.is_of_organization(pending.claimed.provider):
        return next_step.START_AGAIN
    try:
        connection = offered_connections.find_any(context, pending.claimed.provider)
    except errors.ConnectionNotConfigured:  # turned off meanwhile
        return federated_login.return_with_reason(
            context, interaction.state, LoginReason.UNUSABLE, interaction.interaction_id
        )
    form = _completed(context, req, pending.claimed)
    return federated_login.sign_in_for_organization(context, interaction, connection, pending.claimed, form)


def _completed(context: Context, req: RegisterRequest, identity: ProviderIdentity) -> CompletedForm:
    """Return the checked form, with the address that the provider verified. Raises the refusals of a registration."""
    from app.identity.authentication.passwordless import organization_account  # noqa: PLC0415 - few tenants have any

    typed, options = typed_form.read(
        context, req, req.interaction_id or "", has_password=False, fixed_email=identity.email or ""
    )
    typed.names = organization_account.own_profile(context, identity)
    draft = account_registration.read_draft(context, typed, options)
    account_registration.refuse_taken_names(context, draft)
    return organization_account.CompletedForm(draft, options)
