"""The phone's part of a sign-in by QR code: the interaction that asks for approval after the phone's own sign-in (decision 0241)."""

from __future__ import annotations

from app.contract.step_reasons import ApprovalOutcome
from app.contract.steps import ApproveSignInStep, RequestingDevice, StepResponse
from app.identity.authentication.passwordless import cross_device
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.identity.protocols.oauth import oauth_views
from app.kit.web.user_agents import parse_user_agent


def is_of(interaction: Interaction) -> bool:
    """Return whether the interaction is a phone's that opened a code."""
    return interaction.state.approved_code_hash is not None


def device_of(context: Context, interaction: Interaction) -> ContinuationToken | None:
    """Return the waiting browser, in any state; None for an expired or spent code."""
    token_hash = interaction.state.approved_code_hash or ""
    device = continuation_tokens.by_hash(context, ContinuationPurpose.CROSS_DEVICE, token_hash)
    return device if device is not None and not device.is_expired(context.now) else None


def step(context: Context, interaction: Interaction) -> StepResponse:
    """Return the approval step with application, browser and place, but without the number, which the person types.

    Applications that registered themselves are not named: an attacker chooses such a name and logo for the question.
    """
    device = device_of(context, interaction)
    if device is None or device.state != OPEN:
        return StepResponse(step=ApproveSignInStep(outcome=outcome(device)))
    agent = parse_user_agent(str(device.facts.get("agent") or ""))
    address = str(device.facts.get("address") or "")
    place = context.services.locations.place_of(address)
    shown = RequestingDevice(
        name=", ".join(part for part in (agent.browser, agent.device or agent.system) if part),
        place=place.label,
        address=address,
    )
    client = context.application(client_id=str(device.facts.get("client_id") or ""))
    known = client if client is not None and not client.is_self_registered else None
    return StepResponse(
        step=ApproveSignInStep(device=shown),
        interaction_id=interaction.interaction_id,
        relying_party=oauth_views.relying_party(context, known, None) if known is not None else None,
    )


def outcome(device: ContinuationToken | None) -> ApprovalOutcome:
    """Return why a code cannot be approved any more."""
    if device is None:
        return ApprovalOutcome.EXPIRED
    return ApprovalOutcome.DENIED if device.state == cross_device.DENIED else ApprovalOutcome.USED
