"""Password sign-in on our pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.contract import errors
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.sign_in import sign_in_pages
from app.contract.steps import StepResponse
from app.identity.authentication.sign_in import interactions, password_sign_in, sign_in_identifiers
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.credentials.captcha import answers
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.pages_api.interactions import next_step, page_sign_in, pending_identities
from app.identity.pages_api.registration import begin_verification
from app.identity.platform.context import Context

if TYPE_CHECKING:
    from app.identity.authentication.federation.home_realms import HomeRealm


@sign_in_pages.sign_in.implements
def with_password(context: Context, req: sign_in_pages.SignInRequest) -> StepResponse:
    """Verify the password, begin a session and continue the interaction, in one transaction.

    A second submit of the form gets the same response, because a browser follows only the last one.
    """
    interaction = interactions.find(context, req.interaction_id) if req.interaction_id else None
    if req.interaction_id and interaction is None:
        return next_step.START_AGAIN
    unfinished = interaction if interaction is not None and not interaction.is_done else None
    identifier = sign_in_identifiers.guess(context.tenant.settings, req.identifier)
    solution = LockSolution(req.security_answer, answers.from_form(req.captcha))
    if (step := _step_elsewhere(context, req, interaction, identifier, solution)) is not None:
        return step
    remember = page_sign_in.can_remember(context, req.remember)
    if unfinished is not None and (
        pending := begin_verification.repeat_sign_in(context, unfinished, identifier, req.password)
    ):
        return pending
    try:
        outcome = password_sign_in.sign_in_with_password(
            context, identifier, req.password, solution, hides_unknown=True, shows_lock=True, remember=remember
        )
    except errors.EmailUnverified:
        if unfinished is not None:
            unfinished = pending_identities.mark_announced(context, unfinished, connects=req.connects)
        return begin_verification.after_password(
            context, unfinished, account_lookup.find(context, identifier, is_hidden=True).holder, remember
        )
    except errors.PhoneUnverified:
        return begin_verification.after_password_by_phone(
            context, unfinished, account_lookup.find(context, identifier, is_hidden=True).holder, remember
        )
    except errors.LoginNotAllowed as refusal:
        return page_sign_in.prompt_for_method(context, unfinished, refusal)
    except WORKFLOW_REFUSALS as refusal:
        return page_sign_in.show_denial(context, unfinished, refusal)
    if unfinished is not None:
        interaction = pending_identities.mark_announced(context, unfinished, connects=req.connects)
    return page_sign_in.present(context, interaction, outcome)


def _step_elsewhere(
    context: Context,
    req: sign_in_pages.SignInRequest,
    interaction: Interaction | None,
    identifier: TypedIdentifier,
    solution: LockSolution,
) -> StepResponse | None:
    """Return the step of an identifier whose password this service does not verify; None for others.

    It leads to the provider of the address, or a directory verifies the password.
    """
    if req.finds_connection and (realm := _home_realm(context, req)) is not None:
        return page_sign_in.lead(context, interaction, realm)
    login = ldap_directories.for_identifier(context, identifier)
    if login is None:
        return None
    from app.identity.pages_api.sign_in import directory_login  # noqa: PLC0415 - few tenants have any

    remember = page_sign_in.can_remember(context, req.remember)
    return directory_login.sign_in(context, interaction, login, identifier, req.password, solution, remember=remember)


def _home_realm(context: Context, req: sign_in_pages.SignInRequest) -> HomeRealm | None:
    """Return where the address leads; the password is not verified then."""
    from app.identity.authentication.federation import home_realms  # noqa: PLC0415 - few tenants have any

    return home_realms.look_up(context, req.identifier)
