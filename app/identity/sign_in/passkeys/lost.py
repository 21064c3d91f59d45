"""A lost passkey (interface mfa.md rows M54-M56): a mailed link sets a new one, and never stands in for a second factor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from app.contract import errors as e
from app.contract.groups import Posted
from app.contract.letters import MailKind
from app.contract.passkeys import signing_in as contract
from app.contract.passkeys.shapes import PublicKey, RegisterBegin, ShownCredential
from app.identity.accounts import proving
from app.identity.accounts import service as accounts
from app.identity.accounts import store as store_accounts
from app.identity.accounts.account import Account
from app.identity.accounts.sought import Sought
from app.identity.authenticators.passkey import owner_of
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.outbox import Unsent
from app.identity.passkeys import ceremonies, store
from app.identity.passkeys.ceremonies import Use
from app.identity.passkeys.options import PLAIN, Wanted
from app.identity.proofs import service as proofs
from app.identity.proofs.service import NOBODY, Proof, ProofKind
from app.identity.recovery import renewal, sending, whom
from app.identity.recovery.handlers import refuse_captcha, spend
from app.identity.sign_in import recovered
from app.identity.sign_in.passkeys import keeping
from app.identity.sign_in.passkeys.entering import refuse_off
from app.identity.tenants import whitelist
from app.kit.server import Server

VTYPE = "resetpasskey"  # hosted-pages.md section 2
KIND = ProofKind.RESET_PASSKEY


@dataclass(frozen=True)
class Wish:
    """How the mail is wanted."""

    url: str | None = None
    template: str | None = None
    attempt: str | None = None


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.forgot)(forgot)
    server.implements(contract.begin_reset)(begin)
    server.implements(contract.finish_reset)(finish)


def forgot(call: Call, req: contract.Forgot) -> Posted:
    refuse_off(call)
    spend(call)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    refuse_captcha(call, req, "forgot_password")
    if req.reset_passkey_url and not whitelist.is_mailable(call, req.reset_passkey_url):
        raise e.PasskeyUrlRefused
    who = whom.named(call, "email", req.email)
    account = _reached(call, who)
    if account is None and not who.is_hidden:
        raise e.NoPasskey
    send(call, account, req.email, Wish(req.reset_passkey_url, req.email_template), is_hidden=who.is_hidden)
    return Posted()


def begin(call: Call, req: contract.ResetBegin) -> RegisterBegin:
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=begin_with(call, req.vtoken)))


def finish(call: Call, req: contract.ResetFinish) -> Posted:
    finish_with(call, req.vtoken, req.credential)
    return Posted()


def for_page(call: Call, who: Sought, attempt: str | None) -> None:
    """Mail a link as our page asks for it: nothing differs between a name that has passkeys and one that has none."""
    send(call, _reached(call, who), who.identifier.value, Wish(attempt=attempt), is_hidden=True)


def begin_with(call: Call, token: str, wanted: Wanted = PLAIN) -> dict[str, Any]:
    """Return the options of a new passkey for who holds a link, which stays unused. Raises what `held_by` does."""
    refuse_off(call)
    recovered.spend(call)
    account, proof = held_by(call, token)
    return ceremonies.begin_creation(call, Use.RESET, owner_of(account), (), wanted, proof=proof.proof_id)


def finish_with(call: Call, token: str, credential: ShownCredential) -> Account:
    """Set a passkey in the place of all those of the sign-in; every session and token ends. Of many at once one wins."""
    refuse_off(call)
    recovered.spend(call)
    account, proof = held_by(call, token)
    found = ceremonies.made(call, Use.RESET, credential, account.uid)
    if found.ticket.facts.get("proof") != proof.proof_id:
        raise e.PasskeyRefused
    fresh = renewal.locked(call, account, proof)
    proofs.spend_link(call, KIND, token)
    _claim(call, fresh, proof)
    keeping.replace_all(call, fresh, found)
    proofs.close(call, fresh.uid, KIND)
    recovered.end_everything(call, fresh)
    return fresh


def _claim(call: Call, fresh: Account, proof: Proof) -> None:
    """Leave an account that two may have used to the mailbox: what opened it before opens it no more (decisions/0064)."""
    form = accounts.normal("email", str(proof.facts.get("email") or ""))
    entry = next((one for one in fresh.emails if accounts.normal("email", str(one["Value"])) == form), None)
    if entry is None or not proving.is_claim(fresh, form):
        return
    private, is_first = dict(fresh.private), proving.is_first(fresh)
    values = {**proving.claim(call, fresh, entry), **proving.drop_ways_in(call, fresh, private)}
    store_accounts.change(
        call, fresh.uid, {**values, "private": private, "password_hash": None, "password_changed_at": None}
    )
    store.disown(call, fresh.uid, is_first=is_first)
    call.ledger.record("account.claimed", uid=fresh.uid)


def held_by(call: Call, token: str) -> tuple[Account, Proof]:
    """Return whose a link is; raises UnknownLink, UsedLink, ExpiredLink, AccountBlocked."""
    proof = proofs.peek_link(call, KIND, token)
    account = accounts.by_uid(call, proof.uid)
    if account is None:
        raise e.UnknownLink
    whom.refuse_closed(account)
    if not sending.still_reaches(account, proof):
        raise e.ExpiredLink
    return account, proof


def send(call: Call, account: Account | None, name: str, wish: Wish, *, is_hidden: bool) -> None:
    """Mail a link; for nobody the same work is done, and nothing is sent. A limit that is reached is kept silently where
    who has an account is hidden; else it raises MailLimitReached."""
    uid, subject = (account.uid, sending.MAIL) if account else (NOBODY, sending.stranger(name))
    quiet = call if account else replace(call, outbox=Unsent(call.work, call.house.clock, call.house.vault))
    facts = {"attempt": wish.attempt, "email": name.strip() if account is None else _spelling(account, name)}
    try:
        token = proofs.new_link(call, KIND, uid, subject=subject, minutes=proofs.RESET_MINUTES, facts=facts)
        told = {"url": _link(call, token, wish), "token": token, "minutes": str(proofs.RESET_MINUTES)}
        language = call.visit.language if call.visit else None
        to = str(facts["email"])
        letters.mail(
            quiet, MailKind.PASSKEY_LOST, to, account=account, facts=told, template=wish.template, language=language
        )
    except e.MailLimitReached:
        if not is_hidden:
            raise
        call.work.rollback()
    call.ledger.record("passkey.forgot", uid=account.uid if account else None)


def _reached(call: Call, who: Sought) -> Account | None:
    """Return the account that has passkeys to be replaced, and a mailbox that is proved to be its owner's."""
    account = whom.reached(who, sending.MAIL)
    held = store.of_account(call, account.uid if account else NOBODY)
    is_theirs = account is not None and bool(account.email) and not proving.is_first(account)
    return account if held and is_theirs else None


def _spelling(account: Account, email: str) -> str:
    form = accounts.normal("email", email)
    written = (str(one["Value"]) for one in account.emails)
    return next((one for one in written if accounts.normal("email", one) == form), account.email or "")


def _link(call: Call, token: str, wish: Wish) -> str:
    if wish.url is not None:
        return whitelist.with_query(wish.url, vtype=VTYPE, vtoken=token)
    asked = {"vtoken": token} | ({"attempt": wish.attempt} if wish.attempt else {})
    return f"{call.issuer}/passkeys/reset?{urlencode(asked)}"


__all__ = ["KIND", "VTYPE", "begin_with", "finish_with", "for_page", "held_by", "register"]
