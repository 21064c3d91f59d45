"""What a person answered earlier on a page that approves another device: Back, reload and a second submit show it again."""

from __future__ import annotations

from app.contract.step_reasons import ApprovalOutcome, ProgramOutcome
from app.contract.steps import ApproveProgramStep, ApproveSignInStep, StepResponse
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.pages_api.interactions import cross_device_approval
from app.identity.protocols.oauth.authorize import device_verification


def step(interaction: Interaction) -> StepResponse | None:
    """Return the step with the answer that ended an interaction; None for an interaction that ended without one."""
    outcome = interaction.state.ended.outcome if interaction.state.ended is not None else None
    if outcome is None:
        return None
    if interaction.kind == InteractionKind.DEVICE:
        return device_verification.after_end(interaction)
    if cross_device_approval.is_of(interaction):
        return StepResponse(step=ApproveSignInStep(outcome=ApprovalOutcome(outcome), is_earlier=True))
    return StepResponse(step=ApproveProgramStep(outcome=ProgramOutcome(outcome), is_earlier=True))
