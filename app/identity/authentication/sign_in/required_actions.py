"""The actions that a tenant requires after a sign-in: privacy policy, consent forms, PIN, missing fields.

Our pages ask for each in a step of its own. A program gets a refusal whose token continues the sign-in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.contract import errors
from app.contract.registration.form import FormField
from app.contract.steps import (
    ConsentFormsStep,
    LoginStep,
    MissingFieldsStep,
    PinStep,
    PrivacyPolicyStep,
    RequiredAction,
)
from app.identity.authentication.sign_in import api_tokens
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.sessions import session_workflows
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import node_actions, pending_workflows, session_uses
from app.identity.authentication.sign_in.workflows.sign_in_target import SignInTarget, target_of
from app.identity.credentials.pins import pin_tokens, pins
from app.identity.directory.accounts import account_store, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_required
from app.identity.directory.tenants import registration_form
from app.identity.platform.context import Context
from app.kit.clock import iso
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class PageRequirement:
    """An action that only our pages ask for."""

    step: Callable[[Context, Account, datetime], RequiredAction | None]
    """Returns the step of an account that signed in at this time; None if it meets the requirement."""


@dataclass(frozen=True)
class Requirement(PageRequirement):
    """An action without which a program gets no session either."""

    refusal: Callable[[Context, Account, Authentication], ApiError]
    """Returns the error with the token that continues the sign-in."""


def find_first(
    context: Context, session: BrowserSession, account: Account | None = None, target: SignInTarget | None = None
) -> RequiredAction | LoginStep | None:
    """Return the step of the first required action, or of the sign-in that a workflow requires again; None where there is none.

    Reads nothing where the tenant requires nothing and no workflow is in force.

    Args:
        target: of an application, whose workflow `authorize/decision.py` asks; None for what the request's own sign-in is for.
    """
    settings = context.tenant.settings
    has_workflow = target is None and session_uses.has_workflow(context)
    requires_pin = settings.pin.is_on and (settings.pin.required or settings.pin.ask_on_login)
    if not (
        privacy_policy.is_strict(settings)
        or settings.consent_forms
        or settings.ask_required_fields
        or requires_pin
        or session_workflows.of(context, session).pending is not None
        or has_workflow
    ):
        return None
    account = account or account_store.by_uid(context, session.uid)
    if account is None:
        return None
    steps = (requirement.step(context, account, session.authenticated_at) for requirement in REQUIREMENTS)
    first: RequiredAction | LoginStep | None = next((step for step in steps if step is not None), None)
    first = first or pending_workflows.step(context, session, account, target or target_of(context))
    return session_uses.step(context, session, account) if first is None and has_workflow else first


def first_unmet(context: Context, account: Account, after: Requirement | None = None) -> Requirement | None:
    """Return the first requirement that a sign-in of a program does not meet now, or the first one after `after`."""
    remaining = REQUIREMENTS[REQUIREMENTS.index(after) + 1 :] if after else REQUIREMENTS
    for requirement in remaining:
        if isinstance(requirement, Requirement) and requirement.step(context, account, context.now) is not None:
            return requirement
    return None


def are_met(context: Context, account: Account) -> bool:
    """Return whether the account meets every requirement of a program's sign-in."""
    return first_unmet(context, account) is None


def blocks_account_pages(context: Context, session: BrowserSession, account: Account) -> bool:
    """Return whether the account pages stay closed: until the policy is accepted, the consent forms are answered, and the session
    passed the workflow in force for pages, which the one of an application does not replace.
    """
    return (
        session_workflows.of(context, session).pending is not None
        or must_answer_first(context, session, account)
        or session_uses.must_pass(context, session, account)
    )


def must_answer_first(context: Context, session: BrowserSession, account: Account) -> bool:
    """Return whether the account must accept the policy or answer the consent forms before it does anything else."""
    began_at = session.authenticated_at
    return any(requirement.step(context, account, began_at) is not None for requirement in (POLICY, CONSENT))


def _policy_step(context: Context, account: Account, _: datetime) -> PrivacyPolicyStep | None:
    is_outdated = privacy_policy.must_accept(context.tenant.settings.privacy_policy, account, context.now)
    return node_actions.policy_step(account) if is_outdated else None


def _policy_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    """Return the refusal. Its token can only accept the policy and read the account (`assembly/admission/caller_authentication.py`)."""
    issued = api_tokens.issue(context, account, authentication.methods, unfinished=authentication.to_stored())
    data = {"access_token": issued.access_token, "expires_in": iso(issued.access_expires_at)}
    return errors.PrivacyPolicyOutdated(data=data, commit_on_raise=True)


def _consent_step(context: Context, account: Account, began_at: datetime) -> ConsentFormsStep | None:
    return node_actions.consent_step(context, account, began_at)


def _consent_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    return consent_required.refusal(context, account, authentication.to_stored())


def _pin_step(context: Context, account: Account, _: datetime) -> PinStep | None:
    return PinStep() if pins.must_set_pin(context, account) else None


def _pin_refusal(context: Context, account: Account, authentication: Authentication) -> ApiError:
    return pin_tokens.pin_required_error(context, account, authentication.to_stored())


def required_fields(context: Context) -> list[FormField]:
    """Return the fields of the form that each account must have; none where the tenant doesn't ask for them."""
    settings = context.tenant.settings
    form = registration_form.fields_of(settings) if settings.ask_required_fields else ()
    return [field for field in form if field.required and (field.member or field.is_custom)]


def _missing_fields_step(context: Context, account: Account, _: datetime) -> MissingFieldsStep | None:
    """Return the step with the names of the form's required fields that the account's profile lacks."""
    lacking = node_actions.lacking_fields(account, [field.name for field in required_fields(context)])
    return MissingFieldsStep(names=lacking) if lacking else None


def _pin_offer(context: Context, account: Account, _: datetime) -> PinStep | None:
    return PinStep(can_skip=True) if pins.is_offered(context, account) else None


POLICY: Final = Requirement(_policy_step, _policy_refusal)
CONSENT: Final = Requirement(_consent_step, _consent_refusal)
PIN: Final = Requirement(_pin_step, _pin_refusal)
REQUIREMENTS: Final = (POLICY, CONSENT, PIN, PageRequirement(_missing_fields_step), PageRequirement(_pin_offer))
"""In the order in which they are asked for."""
