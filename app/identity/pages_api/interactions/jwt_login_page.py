"""Sends a browser to the login page of a JWT provider, and finds the interaction that waits when it comes back with a JWT.

The login page returns no parameter of ours, so that any page that sends JWTs will do: a token of this browser and this provider
finds the interaction.
"""

from __future__ import annotations

from contextlib import suppress

from app.contract.steps import RedirectStep, StepResponse
from app.identity.authentication.federation import federated_sign_in
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.pages_api.interactions import accept_invitation
from app.identity.platform import continuation_tokens
from app.identity.platform.context import NO_ACCOUNT, Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, TokenExists


def lead(context: Context, connection: OfferedConnection, interaction: Interaction | None) -> StepResponse:
    """Redirect the browser to the provider's login page. An interaction waits there for an hour, in place of an earlier one.

    One that an invitation began doesn't: any site can send the browser back with a JWT of its own, which would use the invitation.
    """
    step = RedirectStep(address=connection.login_url)
    name = _name(context, connection.name)
    if interaction is None or name is None or accept_invitation.is_of(interaction):
        return StepResponse(step=step)
    facts = {"attempt": interaction.interaction_id}
    with suppress(TokenExists):  # of two tabs at once, one waits
        continuation_tokens.renew(
            context, ContinuationPurpose.JWT_LOGIN, NO_ACCOUNT, name, federated_sign_in.LIFETIME, facts
        )
    return StepResponse(step=step, interaction_id=interaction.interaction_id)


def waiting_interaction(context: Context, provider: str) -> Interaction | None:
    """Use up the token of this browser, and return its interaction that waits for a JWT of a provider; None if none does."""
    name = _name(context, provider)
    waiting = continuation_tokens.find(context, ContinuationPurpose.JWT_LOGIN, name)
    if waiting is None or not continuation_tokens.spend(context, waiting):
        return None
    return interactions.find_open(context, str(waiting.facts["attempt"]))


def _name(context: Context, provider: str) -> str | None:
    """Return the text of the token of this browser; None for a browser without interactions."""
    binding = context.visit.binding if context.visit else None
    return f"{provider} {binding}" if binding else None
