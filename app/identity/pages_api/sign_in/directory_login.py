"""Password sign-in on our pages where a directory checks the password: as a sign-in at a provider, without the way to its page."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.contract.step_reasons import LoginReason
from app.contract.steps import LoginStep, StepResponse
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.sign_in import interactions, password_sign_in
from app.identity.authentication.sign_in.interaction_state import NEW
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.ldap.ldap_directories import DirectoryLogin
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.sign_in import federated_login
from app.identity.platform.context import Context


def sign_in(
    context: Context,
    interaction: Interaction | None,
    login: DirectoryLogin,
    identifier: TypedIdentifier,
    password: str,
    solution: LockSolution,
    *,
    remember: bool,
) -> StepResponse:
    """Verify the password at the directory, and return the next step for the person's identity. Raises as the operation does."""
    from app.identity.authentication.sign_in import directory_passwords  # noqa: PLC0415 - loads the LDAP client

    if interaction is not None and interaction.is_done:
        return next_step.after_end(sessions.current(context))
    state = interaction.state if interaction is not None else NEW
    if state.linking_session_id is not None or (state.handoff is not None and state.handoff.links):
        return next_step.START_AGAIN  # linking another provider begins again at its form
    password_sign_in.count_attempt(context)
    interaction_id = interaction.interaction_id if interaction is not None else None
    try:
        identity = directory_passwords.verify(context, login, identifier, password, solution, shows_lock=True)
    except errors.DirectoryUnavailable:
        step = LoginStep(reason=LoginReason.BROKEN, reference=context.raw.request_id)
        return StepResponse(step=step, interaction_id=interaction_id)
    interaction, binding = interactions.save_or_start(
        context, interaction or interactions.new_ids(), InteractionKind.RETURN, replace(state, remembers=remember)
    )
    connection = offered_connections.find_any(context, login.directory.name)
    # a provider that is trusted in its own domain alone: the domain's owner could reset passwords anyway
    needs_confirmation = not login.domain
    response = federated_login.sign_in_or_register(
        context, interaction, connection, identity, needs_confirmation=needs_confirmation
    )
    return response.model_copy(update={"binding": binding}) if binding is not None else response
