"""Takes the posted answer to a SAML sign-in that tries a connection of the set-up guide.

As a posted answer comes without our cookies, what came of it is kept with the trial, for the browser that both began and posted: that
has the session of the guide, and a code which no other browser got. An answer of a trial is found by the purpose of its state, so it
never signs in, and the answer of a sign-in never lands in a trial.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from app.contract.organizations.setup_operations import TRIAL_STATE
from app.identity.authentication.federation import connection_trials
from app.identity.authentication.federation.connection_trials import OUTCOME, TrialResult
from app.identity.authentication.federation.saml import organization_saml
from app.identity.authentication.federation.saml.organization_saml import NAME_ID
from app.identity.authentication.federation.saml.saml_upstream import claims_of, refused, request_id_of
from app.identity.directory.organizations.setup import setup_draft, setup_link_store
from app.identity.directory.organizations.setup.setup_draft import SetupDraft
from app.identity.directory.organizations.setup.setup_link_store import SetupLinkRecord
from app.identity.directory.organizations.setup.setup_products import SAML
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationToken
from app.identity.platform.outbound.findings import UpstreamRefusal
from app.identity.platform.saml import spent_messages
from app.identity.platform.saml.expectations import AcceptedAssertion
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.kit import randomness

_ANSWERED: Final = "answered"
_MEMBERS: Final = {
    "id": "ID", "email": "Email", "first_name": "FirstName", "last_name": "LastName", "groups": "Groups",
}  # fmt: skip
_OID: Final = "urn:oid:"


def is_named(relay_states: Sequence[str]) -> bool:
    """Return whether a form names a trial. It is then nothing else, whatever else it names."""
    return any(text.startswith(f"{TRIAL_STATE}.") for text in relay_states)


def accept(
    context: Context, address_key: str, path: str, messages: Sequence[str], relay_states: Sequence[str]
) -> Mapping[str, str]:
    """Take a posted answer once, accepted or refused; return the parameters with which the browser goes on to the guide.

    An answer to no open trial of this address is not looked at; the guide tells the browser that began.

    Args:
        address_key: the opaque part of the address at which it arrived; `path` has it, too.
    """
    state = relay_states[0] if len(relay_states) == 1 else ""
    found = _open_trial(context, address_key, state)
    code = randomness.token()
    if found is None or not _answer(context, *found, path, messages, code):
        return {"state": state}
    return {"state": state, "code": code}


def _open_trial(
    context: Context, address_key: str, state: str
) -> tuple[ContinuationToken, SetupLinkRecord, SetupDraft] | None:
    """Return the trial that waits for an answer at this address, with the draft as it was when the trial began."""
    token = connection_trials.find(context, state)
    link = setup_link_store.by_id(context, str(token.facts["link"])) if token is not None else None
    if token is None or link is None or (link.status, link.address_key) != (setup_link_store.OPEN, address_key):
        return None
    draft = setup_draft.of_link(context, link)
    is_same = token.facts["protocol"] == SAML and token.facts["version"] == draft.version
    return (token, link, draft) if is_same and token.state == continuation_tokens.OPEN else None


def _answer(
    context: Context, token: ContinuationToken, link: SetupLinkRecord, draft: SetupDraft, path: str,
    messages: Sequence[str], code: str,
) -> bool:  # fmt: skip
    """Keep what came of an answer with its trial; return False if another answer was there before."""
    acs_url, request_id = f"{context.issuer}{path}", request_id_of(str(token.facts["nonce"]))
    result = _result(context, link, draft, messages, acs_url=acs_url, request_id=request_id)
    if result.refusal is not None:
        connection_trials.traced(context, link, result.refusal, [*draft.secrets.values(), code])
    facts = {
        OUTCOME: connection_trials.outcome(context, link, draft.version, result),
        "code_hash": randomness.digest(code),
    }
    return continuation_tokens.change_state(context, token, _ANSWERED, **facts)


def _result(
    context: Context, link: SetupLinkRecord, draft: SetupDraft, messages: Sequence[str], *, acs_url: str, request_id: str
) -> TrialResult:  # fmt: skip
    """Return what an answer says, by the gate and the mapping that the connection will have."""
    connection = draft.as_connection(context, link)
    try:
        provider = organization_saml.client_of(context, connection, draft.secrets)
        assertion = provider.accept(messages, acs_url=acs_url, request_id=request_id, now=context.now)
        spent_messages.spend(context, assertion)
    except SamlRefusal as refusal:
        return TrialResult(refusal=refused(refusal))
    except UpstreamRefusal as refusal:
        return TrialResult(refusal=refusal)
    seen = connection_trials.shown_claims(_readable(assertion), subject=(NAME_ID, assertion.name_id.value))
    sources, names = organization_saml.mapping_of(context, connection).sources(assertion), {name for name, _ in seen}
    stand_ins = {_MEMBERS[member]: name for member, name in sources.items() if name in names}
    try:
        identity = provider.identity(assertion, None)
    except UpstreamRefusal as refusal:
        return TrialResult(seen, refusal=refusal, sources=stand_ins)
    return connection_trials.judged(draft, TrialResult(seen, identity, sources=stand_ins))


def _readable(assertion: AcceptedAssertion) -> dict[str, Any]:
    """Return the attributes by one name each: where the name is a number, the friendly name, if that is of this attribute alone."""
    claims = claims_of(assertion)
    names = {
        name: attribute.friendly_name
        for name, attribute in assertion.attributes.items()
        if name.startswith(_OID) and claims.get(attribute.friendly_name) is claims.get(name)
    }
    return {names.get(name) or name: claims[name] for name in assertion.attributes if name in claims}
