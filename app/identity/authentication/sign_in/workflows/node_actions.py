"""The actions that nodes of a workflow require: terms, consent, fields of the profile, a visit of a page of the tenant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from app.contract import errors
from app.contract.registration.form import CUSTOM, FormField
from app.contract.steps import (
    ConsentFormsStep,
    MissingFieldsStep,
    PrivacyPolicyStep,
    RequiredAction,
    WorkflowRedirectStep,
)
from app.contract.workflows.nodes import ConsentNode, ProfileFormNode, TermsNode
from app.identity.authentication.sign_in.workflows import redirect_addresses
from app.identity.authentication.workflows.walk_results import ActionNode
from app.identity.authentication.workflows.workflow_run import WaitingRedirect
from app.identity.directory.accounts import account_consents, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.consents import consent_forms
from app.identity.platform.context import Context

_ACTIONS: Final[Mapping[type[Any], str]] = {
    TermsNode: "terms", ConsentNode: "consent", ProfileFormNode: "profile", WaitingRedirect: "redirect",
}  # fmt: skip
"""As `Data.Action` names them."""


def step(
    context: Context, account: Account, action: ActionNode | WaitingRedirect, began_at: datetime
) -> RequiredAction | None:
    """Return the step of an action; None for an account that has nothing to do there.

    Args:
        began_at: when the sign-in began.
    """
    match action:
        case TermsNode():
            return None if _has_accepted(context, account, action) else policy_step(account)
        case ConsentNode():
            return consent_step(context, account, began_at)
        case ProfileFormNode(fields=names):
            lacking = lacking_fields(account, names)
            return MissingFieldsStep(names=lacking) if lacking else None
        case WaitingRedirect():
            return WorkflowRedirectStep(address=redirect_addresses.address(context, action))


def refusal(
    context: Context, account: Account, action: ActionNode | WaitingRedirect, began_at: datetime
) -> errors.WorkflowActionRequired:
    """Return the error for a program, which asks nobody."""
    required = step(context, account, action, began_at)
    data: dict[str, Any] = {"Action": _ACTIONS[type(action)]}
    if isinstance(required, MissingFieldsStep):
        data["Fields"] = required.names
    return errors.WorkflowActionRequired(data=data)


def policy_step(account: Account) -> PrivacyPolicyStep:
    """Return the step of the privacy policy."""
    return PrivacyPolicyStep(is_first=not privacy_policy.history_of(account))


def consent_step(context: Context, account: Account, began_at: datetime) -> ConsentFormsStep | None:
    """Return the step of the consent forms that are due; None if there are none."""
    if not (forms := consent_forms.due_forms(context, account, began_at)):
        return None
    accepted = account_consents.accepted_options(account_consents.of_account(account))
    return ConsentFormsStep(events=[form.event for form in forms], accepted_options=sorted(accepted))


def lacking_fields(account: Account, names: Iterable[str]) -> list[str]:
    """Return those of the fields that the profile lacks, by their names in forms."""
    custom: dict[str, Any] = account.profile.get("CustomFields") or {}
    lacking = []
    for name in names:
        member = field_of(name).member
        value = account.profile.get(member) if member else custom.get(name.removeprefix(CUSTOM))
        if value in (None, ""):
            lacking.append(name)
    return lacking


@lru_cache(maxsize=1_000)
def field_of(name: str) -> FormField:
    """Return the field of a form with this name."""
    return FormField(name=name, required=True)


def _has_accepted(context: Context, account: Account, node: TermsNode) -> bool:
    """Return whether the account accepted the version of the node, or the current one; without a policy there is nothing to accept."""
    current = privacy_policy.current_version(context.tenant.settings.privacy_policy, context.now)
    accepted = {entry.get("Version") for entry in privacy_policy.history_of(account)}
    return (
        current is None
        or privacy_policy.accepted_version(account) == current
        or (bool(node.version) and node.version in accepted)
    )
