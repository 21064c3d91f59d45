"""What each type of node would have done with a past sign-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from app.contract.registration.form import CUSTOM, FormField
from app.contract.workflows import conditions, nodes
from app.contract.workflows.expressions import Expression
from app.contract.workflows.nodes import DENY, FAILURE, FALSE, HIGH, LOW, MEDIUM, NEXT, TRUE, NodeData
from app.contract.workflows.workflow_trials import AssumedCall
from app.identity.administration.workflows.rehearsal import past_facts
from app.identity.administration.workflows.rehearsal.past_facts import UNKNOWN
from app.identity.administration.workflows.rehearsal.past_sign_ins import PastSignIn
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.organizations import sign_in_methods
from app.identity.platform.context import Context

FACTOR, ACTION = "factor", "action"


@dataclass(frozen=True)
class Verdict:
    """What a node would have done.

    Attributes:
        output: where the sign-in goes on; None if it ends here.
        is_passed: whether it ends with success.
        asks: FACTOR or ACTION, if the node would have asked for one.
        is_unknown: whether the audit log doesn't tell the output, or whether the node would have asked.
        unknown_facts: the facts without which a condition is undecided.
    """

    output: str | None
    is_passed: bool = False
    asks: str = ""
    is_unknown: bool = False
    unknown_facts: tuple[str, ...] = ()


@dataclass
class Trial:
    """A past sign-in on its way through the draft."""

    context: Context
    past: PastSignIn
    assumed: AssumedCall
    outputs: Mapping[str, str] = field(default_factory=dict)
    """Of the node that it has reached."""
    has_factor: bool = False
    """Whether a node before would have asked for a second factor."""


GOES_ON: Final = Verdict(NEXT)
STOPS: Final = Verdict(None)
UNDECIDED: Final = Verdict(None, is_unknown=True)
MAY_ASK: Final = Verdict(NEXT, is_unknown=True)


def _login(node: nodes.LoginNode, trial: Trial) -> Verdict:
    return _by_methods(trial, node.methods) if node.methods else GOES_ON


def _passkey_login(_: nodes.PasskeyLoginNode, trial: Trial) -> Verdict:
    return _by_methods(trial, (sign_in_methods.PASSKEY,))


def _by_methods(trial: Trial, allowed: tuple[str, ...]) -> Verdict:
    methods: Any = past_facts.methods_of(trial.past.methods)
    if methods is UNKNOWN:
        return UNDECIDED
    return GOES_ON if methods[0] in allowed else STOPS


def _mfa(node: nodes.MfaNode, trial: Trial) -> Verdict:
    if trial.has_factor:
        return GOES_ON
    methods = trial.past.methods
    if methods is None or (MFA in methods and node.factors):  # which factor it was, the entry does not say
        return MAY_ASK
    return GOES_ON if MFA in methods else Verdict(NEXT, asks=FACTOR)


def _profile_form(node: nodes.ProfileFormNode, trial: Trial) -> Verdict:
    account = trial.past.account
    if account is None:
        return MAY_ASK
    custom = account.profile.get("CustomFields") or {}
    for name in node.fields:
        member = _member(name)
        value = account.profile.get(member) if member else custom.get(name.removeprefix(CUSTOM))
        if value in (None, ""):
            return Verdict(NEXT, asks=ACTION)
    return GOES_ON


@lru_cache(maxsize=1_000)
def _member(name: str) -> str | None:
    return FormField(name=name).member


def _terms(node: nodes.TermsNode, trial: Trial) -> Verdict:
    policy, at = trial.context.tenant.settings.privacy_policy, trial.past.at
    version = node.version or privacy_policy.current_version(policy, at)
    if version is None:
        return GOES_ON
    account = trial.past.account
    if account is None:
        return MAY_ASK
    accepted = [
        datetime.fromisoformat(entry["AcceptDateTime"])
        for entry in privacy_policy.history_of(account)
        if entry.get("Version") == version
    ]
    return GOES_ON if any(moment <= at for moment in accepted) else Verdict(NEXT, asks=ACTION)


@lru_cache(maxsize=1_000)
def _parsed(text: str) -> tuple[Expression, frozenset[str]]:
    condition = conditions.parse(text)
    return condition, frozenset(condition.names())


def _condition(node: nodes.ConditionNode, trial: Trial) -> Verdict:
    condition, names = _parsed(node.expression)
    facts = past_facts.read(trial.context, trial.past, names)
    holds = past_facts.decide(condition, facts)
    if holds is None:
        unknown = tuple(sorted(name for name, value in facts.items() if value is UNKNOWN))
        return Verdict(None, is_unknown=True, unknown_facts=unknown)
    return Verdict(TRUE if holds else FALSE)


def _risk(node: nodes.RiskNode, trial: Trial) -> Verdict:
    if not trial.past.has_facts:
        return UNDECIDED
    new = set(trial.past.facts.get("new", ()))
    return Verdict(HIGH if new & set(node.high) else MEDIUM if new & set(node.medium) else LOW)


def _http_call(node: nodes.HttpCallNode, trial: Trial) -> Verdict:
    if trial.assumed == "Unknown":
        return UNDECIDED
    if trial.assumed == "Continue":
        return GOES_ON
    output, action = (DENY, "deny") if trial.assumed == "Deny" else (FAILURE, node.on_failure)
    if output in trial.outputs:
        return Verdict(output)
    if action == "step_up":
        return _mfa(nodes.MfaNode(), trial)
    return STOPS if action == "deny" else GOES_ON


_BY_TYPE: Final[Mapping[type[NodeData], Callable[[Any, Trial], Verdict]]] = {
    nodes.StartNode: lambda _, __: GOES_ON,
    nodes.LoginNode: _login,
    nodes.RegisterNode: lambda _, __: GOES_ON,
    nodes.PasskeyLoginNode: _passkey_login,
    nodes.MfaNode: _mfa,
    nodes.ConsentNode: lambda _, __: MAY_ASK,
    nodes.ProfileFormNode: _profile_form,
    nodes.TermsNode: _terms,
    nodes.ConditionNode: _condition,
    nodes.RiskNode: _risk,
    nodes.HttpCallNode: _http_call,
    nodes.DenyNode: lambda _, __: STOPS,
    nodes.SuccessFinalNode: lambda _, __: Verdict(None, is_passed=True),
    nodes.FailureFinalNode: lambda _, __: STOPS,
}


def verdict(data: NodeData, trial: Trial) -> Verdict:
    """Return what a node would have done."""
    return _BY_TYPE[type(data)](data, trial)
