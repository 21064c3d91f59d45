"""Sign-in through another provider on our own pages: to it, back from it, and whose account it opens (decisions/0130)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from app.contract import errors as e
from app.contract import hub_connections as contract
from app.contract.hub import Next, Step
from app.contract.registration_form import TERMS
from app.identity.accounts import identifiers, linked, proving
from app.identity.accounts import service as accounts
from app.identity.accounts import store as account_store
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL
from app.identity.accounts.sought import Identifier
from app.identity.accounts.store import Taken
from app.identity.call import Call
from app.identity.connections import handing as programs
from app.identity.connections import service as connections
from app.identity.connections.service import Connection
from app.identity.journeys import checking, entering, handing, linking
from app.identity.journeys import next as journey
from app.identity.passwordless import redeeming
from app.identity.proofs import service as proofs
from app.identity.proofs.service import NOBODY, Proof, ProofKind
from app.identity.providers.social import Claimed
from app.identity.sign_in import attempts, sessions, unmet
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.second_factor import Way
from app.identity.tenants import registration_form
from app.identity.verification import identities
from app.kit.limits import Rate
from app.kit.server import Server

LINKS: Final = "links"
"""The member of an attempt's request that names the session whose person links an identity."""
LANDING: Final = "/identities"
_STARTS: Final = Rate(60, 60)
DENIED, BROKEN, NOBODY_HERE, OTHERS, SILENT, UNWANTED = "denied", "broken", "nobody", "taken", "silent", "address"


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.start)(start)
    server.implements(contract.handle)(handle)
    server.implements(contract.finish)(finish)
    server.implements(contract.hand_over)(hand_over)
    server.implements(contract.connected)(connected)


def start(call: Call, req: contract.ConnectionStart) -> Next:
    call.spend("connection", _STARTS, call.network)
    connection = connections.find(call, req.provider)
    attempt = attempts.find(call, req.attempt) if req.attempt else None
    if req.attempt and attempt is None:
        return journey.START_AGAIN
    if attempt is not None and attempt.is_done:
        return journey.after_the_end(sessions.current(call))
    if attempt is not None and LINKS in attempt.request:
        return journey.START_AGAIN  # one form, one way there: another provider is asked for anew
    return lead(call, connection, attempt)


def lead(call: Call, connection: Connection, attempt: Attempt | None, **request: Any) -> Next:
    """Lead the browser to a provider; without an attempt it begins one of that `request`. Whoever is signed in here already, or
    comes from an application that wants a new proof, is to prove it anew there."""
    drawn, again = attempts.draw(), _is_wished_anew(attempt) or sessions.current(call) is not None
    named = attempt.attempt_id if attempt else drawn.attempt_id
    try:
        address = connections.begin(call, connection, named, again=again, hint=_hint(attempt))
    except connections.ConnectionBroken:
        return _back(attempt.request, BROKEN, attempt.attempt_id) if attempt is not None else _back(request, BROKEN)
    if attempt is not None:
        return Next(step=Step.REDIRECT, address=address, attempt=attempt.attempt_id)
    begun, binding = attempts.open(call, journey.RETURN, request, drawn)
    return Next(step=Step.REDIRECT, address=address, attempt=begun.attempt_id, binding=binding)


def handle(call: Call, req: contract.ConnectionHandler) -> Next:
    call.spend("connection", _STARTS, call.network)
    connection = connections.find(call, req.provider)
    wish = handing.asked(call, req)
    if wish is None:
        return Next(step=Step.REFUSED, error="invalid_request", problem="redirect_uri")
    step = lead(call, connection, None, **handing.kept(wish))
    if wish.guid:
        programs.expect(call, wish.guid, links=wish.links)
    return step


def hand_over(call: Call, req: contract.HandOver) -> Next:
    attempt, session = attempts.find(call, req.attempt), sessions.current(call)
    if attempt is None:
        return journey.START_AGAIN
    if session is not None and (wanted := unmet.step(call, session)) is not None:
        return wanted.model_copy(update={"attempt": attempt.attempt_id})
    return handing.answered(call, attempt, session, allow=req.allow)


def finish(call: Call, req: contract.ConnectionAnswer) -> Next:
    """Of many answers with one state one is taken; the page of the attempt says what became of it."""
    attempt, session = attempts.find(call, req.state.rpartition(".")[0]), sessions.current(call)
    if attempt is None:
        return journey.START_AGAIN
    if attempt.is_done:
        return journey.after_the_end(session)
    answer = req.model_dump(include={"code", "error", "iss"}, exclude_defaults=True)
    try:
        claimed, connection = connections.finish(call, req.state, answer)
    except connections.UnknownState:
        return journey.advance(call, attempt, session)
    except connections.ConnectionRefused:
        return _back(attempt.request, DENIED, attempt.attempt_id)
    except connections.ConnectionBroken:
        return _back(attempt.request, BROKEN, attempt.attempt_id)
    if LINKS in attempt.request:
        return _linked(call, attempt, claimed)
    if _is_wished_anew(attempt) and connection.asks_anew and not claimed.is_anew:
        return _back(attempt.request, SILENT, attempt.attempt_id)
    wish = handing.of(attempt)
    if wish is not None and wish.links:
        return handing.with_candidate(call, attempt, wish, claimed)
    registers = call.tenant.settings.registration and (wish is None or wish.registers)
    return _decided(call, linking.forget(call, attempt), connection, claimed, registers=registers)


def connected(call: Call, req: contract.ConnectedRead) -> contract.Connected:
    waits = linking.still_of(call, attempts.find(call, req.attempt))
    if waits is None:
        raise e.UnknownAccount
    said = {**waits.claimed.profile, "Email": waits.claimed.email}
    form = registration_form.of(call.tenant.settings)
    members = {field.name: "Email" if field.name == "email" else field.member for field in form}
    fields = {name: text for name, member in members.items() if member and (text := said.get(member))}
    return contract.Connected(title=connections.title_of(call, waits.claimed.provider), fields=fields)


def _asked(attempt: Attempt | None) -> dict[str, Any]:
    """Return what an application asked for; nothing where none did."""
    return attempt.request if attempt is not None and attempt.kind == journey.AUTHORIZE else {}


def _hint(attempt: Attempt | None) -> str:
    """Return whom the application expects: the provider fills its form with it."""
    return str(_asked(attempt).get("login_hint") or "")


def _is_wished_anew(attempt: Attempt | None) -> bool:
    """Return whether an application wants a new proof, also of whoever is not signed in here: they may just have signed out."""
    asked = _asked(attempt)
    names_anew = asked.get("max_age") is not None or asked.get("acr") is not None
    return names_anew or "login" in asked.get("prompt", ())


def _back(request: Mapping[str, Any], problem: str, attempt_id: str | None = None) -> Next:
    """Return to the page that had led to the provider."""
    if LINKS in request:
        return Next(step=Step.REDIRECT, address=f"{LANDING}?problem={problem}")
    return Next(step=Step.LOGIN, attempt=attempt_id, problem=problem)


def _linked(call: Call, attempt: Attempt, claimed: Claimed) -> Next:
    """Link to whoever is signed in with the session that asked: nobody else's browser may finish it, nor one whose session its
    owner ended by taking the account back in this very moment.
    """
    asking = sessions.current(call)
    account = account_store.change(call, asking.uid, {}) if asking is not None else None  # locked from here on
    session = sessions.current(call)
    is_same = session is not None and account is not None and session.session_id == attempt.request[LINKS]
    if account is None or not is_same or not call.tenant.settings.account_linking:
        return Next(step=Step.REDIRECT, address=LANDING)
    attempts.finish(call, attempt)
    try:
        identities.link(call, account, claimed)
    except Taken:
        return Next(step=Step.REDIRECT, address=f"{LANDING}?problem={OTHERS}")
    return Next(step=Step.REDIRECT, address=f"{LANDING}?done=linked")


def _decided(call: Call, attempt: Attempt, connection: Connection, claimed: Claimed, *, registers: bool) -> Next:
    """Return the step of whoever the provider vouches for.

    Whose address it names is looked at only where the tenant trusts the provider's word for it: nobody learns it otherwise.
    """
    holder = linked.holder(call, claimed.provider, claimed.subject)
    if holder is not None:
        return _known(call, attempt, holder, claimed)
    if claimed.email and claimed.email_verified and connection.trusts_email and accounts.is_email(claimed.email):
        known = accounts.by_email(call, claimed.email)
        if known is not None and proving.is_shared(known):  # whoever else may know its password would go on beside them
            return _unlinked(call, attempt, claimed, registers=False)
        if call.tenant.settings.account_linking if known is not None else registers and not _asks_for_terms(call):
            return _opened(call, attempt, claimed, claimed.email)
    return _unlinked(call, attempt, claimed, registers=registers)


def _asks_for_terms(call: Call) -> bool:
    return any(field.name == TERMS and field.required for field in registration_form.of(call.tenant.settings))


def _unlinked(call: Call, attempt: Attempt, claimed: Claimed, *, registers: bool) -> Next:
    """Let the identity wait for an account: the page of registration is filled in with it."""
    attempt = linking.note(call, attempt, claimed)
    if not registers:
        return Next(step=Step.LOGIN, attempt=attempt.attempt_id, problem=NOBODY_HERE)
    return Next(step=Step.REGISTER, attempt=attempt.attempt_id, problem=claimed.provider)


def _known(call: Call, attempt: Attempt, holder: Account, claimed: Claimed) -> Next:
    try:
        account = linked.used(call, holder, claimed)
    except linked.NotLinked:
        return _back(attempt.request, DENIED, attempt.attempt_id)
    return _entered(call, linking.note(call, attempt, claimed, account.uid), account, is_anew=claimed.is_anew)


def _opened(call: Call, attempt: Attempt, claimed: Claimed, email: str) -> Next:
    """Let the provider's word be a proof of the mailbox: the account that has the address is its owner's, or is made."""
    facts = {"email": email, "registers": True}
    proof = Proof(ProofKind.SIGN_IN, NOBODY, identifiers.normal(EMAIL, email), facts, call.now)
    try:
        account = redeeming.account_of(call, proof, e.UnknownAccount, by=claimed)
    except (e.EmailRefused, e.EmailDomainRefused):
        return _back(attempt.request, UNWANTED, attempt.attempt_id)
    except (e.EmailRegistered, e.ClosedLink, e.UnknownAccount):  # it became another's in this very moment
        call.work.rollback()
        return _back(attempt.request, DENIED, attempt.attempt_id)
    attempt = linking.note(call, attempt, claimed, account.uid, is_proof=True)
    return _entered(call, attempt, account, is_anew=claimed.is_anew)


def _entered(call: Call, attempt: Attempt, account: Account, *, is_anew: bool) -> Next:
    """Sign in, by a second factor where one is wanted; raises why the account may not, as only its owner sees that."""
    session = sessions.of_person(call, account.uid)
    if session is not None and not is_anew:  # what a browser is let in by again is no proof of who sits there
        step = journey.advance(call, attempt, session)
        return step.model_copy(update={"problem": SILENT}) if step.step is Step.LOGIN else step
    after = entering.enter(call, attempt, account, Way((linking.FEDERATED,)))
    if after is not None:
        return after
    proofs.refuse_locked(call, account)
    refusal = sign_in.closed(call, account, Identifier("email", ""))
    if isinstance(refusal, e.EmailUnverified):
        shown = (linking.FEDERATED,)
        return checking.begin(call, attempt, account.email or "", account, is_sent=False, methods=shown)
    raise refusal or e.AccountBlocked
