"""A past sign-in as the walk through a workflow asks about it, as far as the audit log tells."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final, Literal

from app.contract.registration.form import CUSTOM, FormField
from app.contract.second_factors.challenge import FactorKind
from app.contract.workflows.expressions import Expression, Facts
from app.contract.workflows.nodes import ConsentNode, ProfileFormNode, TermsNode
from app.contract.workflows.workflow_trials import AssumedCall
from app.identity.administration.workflows.rehearsal import past_facts
from app.identity.administration.workflows.rehearsal.past_facts import UNKNOWN
from app.identity.administration.workflows.rehearsal.past_sign_ins import PastSignIn
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.authentication.workflows.walk import CallAnswer
from app.identity.directory.accounts import privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context

_DECISIONS: Final[Mapping[AssumedCall, Literal["continue", "deny", "failed"]]] = {
    "Continue": "continue",
    "Deny": "deny",
    "Failure": "failed",
}
UNKNOWN_METHOD: Final = ""


class Undecided(Exception):
    """The audit log does not tell where the sign-in would have gone on.

    Args:
        names: the facts without which a condition has no value.
    """

    def __init__(self, *names: str) -> None:
        super().__init__(*names)
        self.names = names


class PastFacts(Mapping[str, object]):
    """The facts of a sign-in. Raises Undecided for one that is unknown."""

    def __init__(self, context: Context, past: PastSignIn) -> None:
        self._context, self._past = context, past

    def known(self, name: str) -> object:
        """Return a fact, or UNKNOWN."""
        return past_facts.READERS[name](self._context, self._past)

    def __getitem__(self, name: str) -> object:
        value = self.known(name)
        if value is UNKNOWN:
            raise Undecided(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(past_facts.READERS)

    def __len__(self) -> int:
        return len(past_facts.READERS)


class CertainCondition(Expression):
    """A condition that is decided only if no unknown fact could change it."""

    def __init__(self, condition: Expression) -> None:
        self._condition, self._names = condition, frozenset(condition.names())

    def value(self, facts: Facts) -> bool:
        if not isinstance(facts, PastFacts):
            return self._condition.is_true(facts)
        read = {name: facts.known(name) for name in self._names}
        holds = past_facts.decide(self._condition, read)
        if holds is None:
            raise Undecided(*(name for name, value in read.items() if value is UNKNOWN))
        return holds

    def names(self) -> Iterator[str]:
        yield from self._names


class PastState:
    """What is known about a past sign-in.

    Attributes:
        is_doubtful: whether the last answer was a guess: the log does not tell whether the node would have asked.
        is_asked_for_factor: whether a node asked for a second factor, which then counts as passed.
    """

    def __init__(self, context: Context, past: PastSignIn, assumed: AssumedCall) -> None:
        self.facts: Facts = PastFacts(context, past)
        self.is_doubtful = False
        self.is_asked_for_factor = False
        self._context, self._past, self._assumed = context, past, assumed

    @property
    def method(self) -> str:
        """The method of the sign-in, or UNKNOWN_METHOD."""
        methods = past_facts.methods_of(self._past.methods)
        return str(methods[0]) if isinstance(methods, tuple) else UNKNOWN_METHOD

    def has_factor(self, factors: Collection[FactorKind]) -> bool:
        """Return whether a second factor was passed. Which one it was, the log does not tell."""
        if self.is_asked_for_factor:
            return True
        methods = self._past.methods
        self.is_doubtful = methods is None or (MFA in methods and bool(factors))
        return self.is_doubtful or MFA in (methods or ())

    def is_done(self, action: ConsentNode | ProfileFormNode | TermsNode) -> bool:
        """Return whether nothing was due there. Consent forms that were due are not known."""
        account = self._past.account
        if isinstance(action, ConsentNode) or account is None:
            self.is_doubtful = True
            return True
        return _has(account, action) if isinstance(action, ProfileFormNode) else self._has_accepted(account, action)

    def answer_at(self, node_id: str) -> CallAnswer:  # noqa: ARG002 - as SignInState
        """Return the assumed answer of every call. Raises Undecided where none is assumed."""
        if self._assumed == "Unknown":
            raise Undecided
        return CallAnswer(_DECISIONS[self._assumed])

    def _has_accepted(self, account: Account, terms: TermsNode) -> bool:
        at = self._past.at
        version = terms.version or privacy_policy.current_version(self._context.tenant.settings.privacy_policy, at)
        moments = (
            datetime.fromisoformat(entry["AcceptDateTime"])
            for entry in privacy_policy.history_of(account)
            if entry.get("Version") == version
        )
        return version is None or any(moment <= at for moment in moments)


def _has(account: Account, form: ProfileFormNode) -> bool:
    """Return whether the profile, as it is now, has every field."""
    custom = account.profile.get("CustomFields") or {}
    for name in form.fields:
        member = _member(name)
        value = account.profile.get(member) if member else custom.get(name.removeprefix(CUSTOM))
        if value in (None, ""):
            return False
    return True


@lru_cache(maxsize=1_000)
def _member(name: str) -> str | None:
    return FormField(name=name).member
