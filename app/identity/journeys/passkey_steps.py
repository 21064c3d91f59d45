"""Passkeys on our pages: sign-in by button and by autofill, one's own list, the offer after a sign-in, a lost one."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.contract.groups import Posted
from app.contract.hub import Next, Step
from app.contract.hub_self_service import Done
from app.contract.mailed import LinkRead
from app.identity.accounts import service as accounts
from app.identity.accounts import sought
from app.identity.accounts.account import Account
from app.identity.accounts.sought import Identifier, Sought
from app.identity.authenticators.passkey import owner_of
from app.identity.call import Call
from app.identity.journeys import checking, entering, freshness, own_account, passkey_offers
from app.identity.journeys import next as journey
from app.identity.oauth import views as oauth_views
from app.identity.passkeys import ceremonies, options, store
from app.identity.passkeys.ceremonies import Use
from app.identity.passkeys.options import FOUND_ALONE, OF_THIS_DEVICE
from app.identity.proofs import service as proofs
from app.identity.recovery.handlers import spend
from app.identity.sign_in import attempts, identifiers, second_factor, sessions
from app.identity.sign_in import service as sign_in_service
from app.identity.sign_in.attempts import Attempt
from app.identity.sign_in.passkeys import entering as signing_in
from app.identity.sign_in.passkeys import keeping, lost
from app.identity.sign_in.passkeys.entering import refuse_off
from app.identity.sign_in.second_factor import Way
from app.identity.tenants import web_origin
from app.kit.server import Server

LOCAL = "passkey_here"
"""The member of an attempt's request that says which offer was made."""


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin_sign_in)(begin_sign_in)
    server.implements(contract.sign_in)(sign_in)
    server.implements(contract.own)(read_own)
    server.implements(contract.begin_own)(begin_own)
    server.implements(contract.add)(add)
    server.implements(contract.rename)(rename)
    server.implements(contract.remove)(remove)
    server.implements(contract.read_offer)(read_offer)
    server.implements(contract.answer_offer)(answer_offer)
    server.implements(contract.lost)(forgot)
    server.implements(contract.read_lost)(read_lost)
    server.implements(contract.begin_lost)(begin_lost)
    server.implements(contract.finish_lost)(finish_lost)


def begin_sign_in(call: Call, req: contract.Begin) -> contract.PasskeyOptions:  # noqa: ARG001 - it asks nothing
    refuse_off(call)
    return contract.PasskeyOptions(options=ceremonies.begin_request(call, Use.AUTOFILL))


def sign_in(call: Call, req: contract.PasskeySignIn) -> Next:
    """Sign in, unless the account may not; whoever used another device's passkey is offered one of this device."""
    refuse_off(call)
    attempt = attempts.find(call, req.attempt) if req.attempt else None
    if req.attempt and attempt is None:
        return journey.START_AGAIN
    try:
        account, shown, methods = signing_in.proved(call, Use.AUTOFILL, req.credential)
    except e.PasskeyRefused:
        if (waits := checking.by_passkey(call, attempt, req.credential.raw_id)) is None:
            raise
        call.work.rollback()
        return waits
    way = Way(methods, remember=entering.remembering(call, req.remember))
    proofs.refuse_locked(call, account)
    refusal = sign_in_service.closed(call, account, Identifier("email", ""))
    if isinstance(refusal, e.EmailUnverified) and account.email:
        going_on = attempt if attempt is not None and not attempt.is_done else None
        return checking.begin(
            call, going_on, account.email, account, is_sent=False, remember=way.remember,
            passkey=shown.credential.facts["id"], methods=way.methods,
        )  # fmt: skip
    if refusal is not None:
        raise refusal
    is_whole = second_factor.TWO in way.methods
    if is_whole and shown.is_elsewhere and passkey_offers.is_due_here(call, account):
        return _offered_here(call, attempt, account, way)
    step = entering.enter(call, attempt, account, way)
    if step is None:
        raise e.AccountBlocked
    return step


def read_own(call: Call, req: contract.OwnPasskeysRead) -> contract.OwnPasskeys:  # noqa: ARG001 - the session says whose
    refuse_off(call)
    session, account = own_account.owner(call)
    held = store.of_account(call, account.uid)
    owner = owner_of(account)
    sessions.touch(call, session)
    return contract.OwnPasskeys(
        person=oauth_views.person(account),
        passkeys=[store.listed(one) for one in held],
        accepted=contract.Accepted(
            rp_id=web_origin.rp_id(call),
            user_id=options.handle_of(account.uid),
            name=owner.name,
            display_name=owner.shown_name or owner.name,
            ids=[one.facts["id"] for one in held],
        ),
        needs_password=call.now - session.authenticated_at > freshness.FRESH,
        must_confirm=freshness.must_confirm(call, session, account),
        has_password=account.password_hash is not None,
        can_add=bool(account.email) and len(held) < store.MOST and web_origin.can_have_passkeys(call),
    )


def begin_own(call: Call, req: contract.BeginOwn) -> contract.PasskeyOptions:
    refuse_off(call)
    _, account = own_account.owner(call)
    wanted = OF_THIS_DEVICE if req.local else FOUND_ALONE
    return contract.PasskeyOptions(options=keeping.begin_adding(call, account, wanted))


def add(call: Call, req: contract.NewOwnPasskey) -> Done:
    refuse_off(call)
    known = own_account.proved(call, req)
    keeping.add(call, known.account, req.credential, req.name)
    passkey_offers.taken(call, known.account)
    return own_account.done(call, known)


def rename(call: Call, req: contract.RenamedPasskey) -> Posted:
    _, account = own_account.owner(call)
    keeping.rename(call, account, req.id, req.name)
    return Posted()


def remove(call: Call, req: contract.GonePasskey) -> Done:
    known = own_account.proved(call, req)
    keeping.remove(call, known.account, req.id)
    return own_account.done(call, known)


def read_offer(call: Call, req: contract.OfferRead) -> contract.Offer:
    session, account = own_account.owner(call)
    attempt = _going_on(call, req.attempt)
    if req.attempt and attempt is None:
        return contract.Offer(next=journey.after_the_end(session))
    is_local = bool(attempt and attempt.request.get(LOCAL))
    return contract.Offer(is_local=is_local, person=oauth_views.person(account))


def answer_offer(call: Call, req: contract.OfferAnswer) -> Next:
    """The sign-in was a moment ago, so nothing is asked again: whoever comes back later is led onward without it."""
    session, account = own_account.owner(call)
    attempt = _going_on(call, req.attempt)
    is_fresh = call.now - session.authenticated_at <= freshness.FRESH
    if req.credential is not None and is_fresh:
        refuse_off(call)
        keeping.add(call, account, req.credential)
        passkey_offers.taken(call, account)
    elif req.credential is None:
        passkey_offers.not_now(call, account, is_local=bool(attempt and attempt.request.get(LOCAL)))
    if attempt is None:
        return journey.after_the_end(session)
    return journey.advance(call, attempt, session)


def forgot(call: Call, req: contract.LostPasskey) -> Posted:
    """Nothing differs between a name that has passkeys and one that nobody has."""
    refuse_off(call)
    spend(call)
    identifier = identifiers.guessed(call.tenant.settings, req.identifier)
    who = Sought(call, identifier, sought.account_of(call, identifier), is_hidden=True)
    lost.for_page(call, who, req.attempt)
    return Posted()


def read_lost(call: Call, req: LinkRead) -> contract.LostView:
    held = proofs.known_link(call, lost.KIND, req.token)
    account = accounts.by_uid(call, held.uid) if held is not None else None
    if held is None or account is None:
        return contract.LostView(state="unknown")
    call.ledger.record("passkey.link_looked_at", uid=held.uid, by="machine" if req.is_machine else "browser")
    label = str(held.facts.get("email") or "")
    try:
        lost.held_by(call, req.token)
    except e.UsedLink:
        return contract.LostView(state="used", label=label)
    except (e.ExpiredLink, e.AccountBlocked):
        return contract.LostView(state="expired", label=label)
    return contract.LostView(state="open", label=label)


def begin_lost(call: Call, req: contract.LostBegin) -> contract.PasskeyOptions:
    return contract.PasskeyOptions(options=lost.begin_with(call, req.token, FOUND_ALONE))


def finish_lost(call: Call, req: contract.LostFinish) -> Next:
    """Nobody is signed in by it: the new passkey does that in a moment, and shows that it works."""
    lost.finish_with(call, req.token, req.credential)
    return journey.open_return(call, None, None).model_copy(update={"ends_session": True})


def _going_on(call: Call, attempt_id: str | None) -> Attempt | None:
    attempt = attempts.find(call, attempt_id) if attempt_id else None
    return attempt if attempt is not None and not attempt.is_done else None


def _offered_here(call: Call, attempt: Attempt | None, account: Account, way: Way) -> Next:
    if attempt is None or attempt.is_done:
        return entering.enter(call, attempt, account, way) or journey.START_AGAIN
    if not sign_in_service.enter(call, account, way.kind):
        raise e.AccountBlocked
    attempt = attempts.note(call, attempt, lives_for=second_factor.LIFETIME, **{LOCAL: True})
    return entering.session(call, attempt, account, way, step=Step.PASSKEY_OFFER)


__all__ = ["register"]
