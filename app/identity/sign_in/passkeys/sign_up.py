"""Registration with a passkey in the place of a password (interface mfa.md rows M48, M49)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract.accounts import EmailEntry
from app.contract.passkeys import signing_in as contract
from app.contract.passkeys.shapes import PublicKey, RegisterBegin
from app.contract.registration import Registered
from app.identity.accounts import identifiers
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.passkeys import ceremonies
from app.identity.passkeys.ceremonies import Made, Use
from app.identity.passkeys.options import Owner
from app.identity.registration import handlers as registration
from app.identity.registration import service
from app.identity.registration.service import Ask, Outcome
from app.identity.sign_in.passkeys.entering import refuse_off
from app.identity.tickets import service as tickets
from app.kit import randomness
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin_sign_up)(begin)
    server.implements(contract.finish_sign_up)(finish)


def begin(call: Call, req: contract.SignUpBegin) -> RegisterBegin:
    refuse_off(call)
    service.refuse_off(call)
    ceremonies.spend_lookup(call)
    email = req.identifier.strip()
    if not accounts.is_email(email):
        raise e.MalformedEmail
    if "email" not in call.tenant.settings.login_kinds:
        raise e.PasskeyNeedsEmail
    if not call.tenant.settings.hide_unknown_accounts and accounts.by_email(call, email) is not None:
        raise e.EmailRegistered
    told = ceremonies.begin_creation(call, Use.SIGN_UP, Owner(randomness.uid(), email))
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=told))


def finish(call: Call, req: contract.SignUpFinish) -> Registered:
    refuse_off(call)
    service.refuse_off(call)
    found = ceremonies.made(call, Use.SIGN_UP, req.passkey_credential)
    outcome = registered(call, found, req, registration.asked(call, req))
    return registration.registered(call, req, outcome)


def registered(call: Call, found: Made, req: contract.SignUpFinish, ask: Ask) -> Outcome:
    """Make the account that the passkey was made for, under the id that the passkey bears.

    Where nobody is to learn whose an address is and it is somebody's, the passkey is used up and kept for nobody.
    """
    email = str(found.ticket.facts["name"])
    given = req if req.email else req.model_copy(update={"email": [EmailEntry(type="Primary", value=email)]})
    primary = next((one.value for one in given.email or () if (one.type or "").lower() == "primary"), None)
    if identifiers.normal_email(primary or "") != identifiers.normal_email(email):
        raise e.PasskeyRefused
    ask = replace(ask, has_passkey=True)
    drafted = replace(service.draft(call, given, ask), uid=found.ticket.uid, has_own_uid=False)
    outcome = service.register(call, drafted, ask)
    if outcome.account is not None:
        ceremonies.keep(call, found, outcome.account.uid)
    elif not tickets.spend(call, found.ticket):
        raise e.PasskeyRefused
    return outcome


__all__ = ["register", "registered"]
