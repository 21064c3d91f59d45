"""Sign-in with a passkey (interface mfa.md rows M50-M53): by the name of an account, or by whichever the browser offers."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from app.contract import errors as e
from app.contract.passkeys import signing_in as contract
from app.contract.passkeys.shapes import LoginBegin, PublicKey, ShownCredential
from app.contract.second_factors.challenge import FactorLogin
from app.identity.accounts import proving, sought
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL
from app.identity.accounts.sought import Identifier, Sought
from app.identity.authenticators.protocol import Wish
from app.identity.call import Call
from app.identity.passkeys import ceremonies, options, store
from app.identity.passkeys.ceremonies import Shown, Use
from app.identity.proofs.service import NOBODY
from app.identity.sign_in import entry, identifiers, risks, second_factor, service
from app.identity.sign_in.second_factor import Way
from app.identity.verification import service as verification
from app.kit.server import Server

_LENGTHS: Final = (16, 20, 32, 48)  # of ids that common authenticators make
_AT_LEAST: Final = 3
"""As many passkeys everybody seems to have, where it is hidden who has an account: few have more."""


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin_sign_in)(begin)
    server.implements(contract.finish_sign_in)(finish)
    server.implements(contract.begin_autofill)(begin_autofill)
    server.implements(contract.finish_autofill)(finish_autofill)


def begin(call: Call, req: contract.SignInBegin) -> LoginBegin:
    refuse_off(call)
    ceremonies.refuse_misconfigured(call)
    if not req.identifier.strip():
        raise e.BadParameter.names("identifier")
    ceremonies.spend_lookup(call)
    is_hidden = call.tenant.settings.hide_unknown_accounts
    who = sought.named(call, identifiers.guessed(call.tenant.settings, req.identifier), is_hidden=is_hidden)
    allowed = _hidden(call, who) if is_hidden else _told(call, who, req)
    uid = who.account.uid if who.account is not None else None
    return LoginBegin(login_begin_credential=_asked(ceremonies.begin_request(call, Use.SIGN_IN, uid, allowed)))


def finish(call: Call, req: contract.SignInFinish) -> FactorLogin:
    refuse_off(call)
    return _entered(call, req, Use.SIGN_IN)


def begin_autofill(call: Call, req: contract.AutofillBegin) -> LoginBegin:  # noqa: ARG001 - it asks nothing
    refuse_no_autofill(call)
    return LoginBegin(login_begin_credential=_asked(ceremonies.begin_request(call, Use.AUTOFILL)))


def finish_autofill(call: Call, req: contract.SignInFinish) -> FactorLogin:
    refuse_no_autofill(call)
    return _entered(call, req, Use.AUTOFILL)


def proved(call: Call, use: Use, credential: ShownCredential) -> tuple[Account, Shown, tuple[str, ...]]:
    """Return whose passkey was shown, and the `amr` of it: `mfa` among them where it counts as two factors.

    Raises PasskeyRefused: also for a passkey that did not verify its user where a second factor is due: the same key would
    answer for both; and where who has an account is hidden for one that waits for the proof of its address, or of one that is
    somebody's.
    """
    found = ceremonies.shown(call, use, credential)
    account = accounts.by_uid(call, found.credential.uid)
    if account is None or (_hides(call) and proving.is_anybodys(call, account, EMAIL)):
        raise e.PasskeyRefused
    if found.credential.facts.get(store.BESIDE):
        call.ledger.record("passkey.refused", uid=account.uid, reason="beside a first factor alone")
        raise e.PasskeyRefused
    if found.counts_as_two:
        return account, found, (found.method, second_factor.TWO)
    wanted = None if found.is_user_verified else risks.wanted(call, account)
    if wanted is not None and not wanted.person.lent:
        call.ledger.record("passkey.refused", uid=account.uid, reason="user not verified")
        raise e.PasskeyRefused
    return account, found, (found.method,)


def refuse_off(call: Call) -> None:
    """Raise 1320 where the tenant has no passkeys."""
    if not call.tenant.settings.passkeys:
        raise e.PasskeysOff


def refuse_no_autofill(call: Call) -> None:
    """Raise 1320, or 1326 where the tenant offers passkeys by a button alone."""
    refuse_off(call)
    if call.tenant.settings.passkey_settings.selection == "button":
        raise e.PasskeyAutofillOff


def _entered(call: Call, req: contract.SignInFinish, use: Use) -> FactorLogin:
    try:
        account, _, methods = proved(call, use, req.credential)
    except e.PasskeyRefused as refusal:
        raise _without_any(call, req.credential) or refusal from None
    if not account.email:
        raise e.PasskeyNeedsEmail
    wish = Wish(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    way = Way(methods, is_silent=req.is_silent)
    return entry.enter(call, account, way, fields=req.fields_, wish=wish)


def _hides(call: Call) -> bool:
    return call.visit is not None or call.tenant.settings.hide_unknown_accounts


def _without_any(call: Call, credential: ShownCredential) -> e.NoPasskey | None:
    """Return 1323 where the handle names an account that has no passkey any more: it is not guessed, and tells nobody's name."""
    uid = options.uid_in(credential.response.user_handle)
    if uid is None or _hides(call) or accounts.by_uid(call, uid) is None or store.of_account(call, uid):
        return None
    return e.NoPasskey()


def _told(call: Call, who: Sought, req: contract.SignInBegin) -> list[dict[str, Any]]:
    """Return the passkeys of the account that is named; raises why there are none: 938, 970, 1324, 1323."""
    account = who.account
    if account is None:
        raise e.UnknownAccount
    if not account.email:
        raise e.PasskeyNeedsEmail
    refusal = service.closed(call, account, Identifier("email", account.email))
    if isinstance(refusal, e.EmailUnverified):
        wish = verification.Wish(url=req.verification_url, email_template=req.email_template)
        raise verification.send_after_refusal(call, account, refusal, wish) or refusal
    held = store.of_account(call, account.uid)
    if not held:
        raise e.NoPasskey
    return [store.descriptor(one) for one in held]


def _hidden(call: Call, who: Sought) -> list[dict[str, Any]]:
    """Return the passkeys of whoever is named, among invented ones, the same at every try. Neither their number nor their order
    nor what is known of their devices tells the two apart.
    """
    held = store.of_account(call, who.account.uid if who.account else NOBODY)
    shown = {store.raw_id(one) for one in held}
    invented = (_invented(call, f"{who.name_hash} passkey {n}") for n in range(max(0, _AT_LEAST - len(shown))))
    return [
        {"type": "public-key", "id": store.encoded(raw), "transports": []}
        for raw in sorted({*shown, *invented}, key=lambda raw: sought.keyed(call, raw.hex()))
    ]


def _invented(call: Call, name: str) -> bytes:
    drawn = bytes.fromhex(sought.keyed(call, name))
    return hashlib.sha512(drawn).digest()[: _LENGTHS[drawn[0] % len(_LENGTHS)]]


def _asked(told: dict[str, Any]) -> PublicKey:
    return PublicKey(publicKey=told)


__all__ = ["proved", "refuse_no_autofill", "refuse_off", "register"]
