"""A challenge that is answered with a passkey (interface mfa.md rows M15-M18)."""

from __future__ import annotations

from typing import Any

from app.contract import errors as e
from app.contract.passkeys.shapes import LoginBegin, PublicKey, RegisterBegin
from app.contract.second_factors import passkeys as contract
from app.contract.second_factors.challenge import MT, FactorKind, FactorLogin
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.authenticators.protocol import Answer, Person, Wish
from app.identity.call import Call
from app.identity.second_factors import service as factors
from app.identity.sign_in import factor_rows, second_factor
from app.identity.sign_in.second_factor import Pending
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.kit.server import Server

KIND = FactorKind.PASSKEY


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin_enrolment)(begin_enrolment)
    server.implements(contract.enrol)(enrol)
    server.implements(contract.begin)(begin)
    server.implements(contract.prove)(prove)


def begin_enrolment(call: Call, req: contract.EnrolmentBegin) -> RegisterBegin:
    """With an access token in the place of the challenge's it is the same as row M29."""
    if req.second_factor_authentication_token is not None:
        found = _pending(call, req.second_factor_authentication_token)
        _refuse_enrolled(call, found)
        return beginning(call, found.person)
    if call.holder is None:
        raise e.BadParameter.names("secondfactorauthenticationtoken")
    return beginning(call, factors.person(call, accounts.own(call)))


def enrol(call: Call, req: contract.PasskeyProof) -> FactorLogin:
    _refuse_enrolled(call, _pending(call, req.second_factor_authentication_token))
    return _answered(call, req)


def begin(call: Call, req: MT) -> LoginBegin:
    found = _pending(call, req.second_factor_authentication_token)
    authenticator = factors.authenticator(call, KIND)
    if not authenticator.is_enrolled(found.person):
        raise authenticator.missing
    shown = authenticator.challenge(call, found.person, Wish())
    return LoginBegin(login_begin_credential=PublicKey(publicKey=dict(shown.options or {})))


def prove(call: Call, req: contract.PasskeyProof) -> FactorLogin:
    found = _pending(call, req.second_factor_authentication_token)
    if not factors.authenticator(call, KIND).is_enrolled(found.person):
        raise e.PasskeyFactorNotEnrolled
    return _answered(call, req)


def beginning(call: Call, person: Person) -> RegisterBegin:
    """Return the options of a passkey that is to be a second factor. Raises PasskeyFactorOff, PasskeyMisconfigured."""
    shown = factors.authenticator(call, KIND).begin(call, person, Wish())
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=dict(shown.options or {})))


def _answered(call: Call, req: contract.PasskeyProof) -> FactorLogin:
    shown: dict[str, Any] = req.credential.model_dump(by_alias=True, exclude_none=True)
    return factor_rows.answered(call, req, KIND, Answer(credential=shown))


def _pending(call: Call, text: str) -> Pending:
    found = second_factor.pending(call, tickets.find(call, TicketKind.SECOND_FACTOR, text))
    factors.authenticator(call, KIND)
    if gate.lock_of(found.account) is not None and not found.way.opens_lock:
        raise e.LockedDuringStep
    return found


def _refuse_enrolled(call: Call, found: Pending) -> None:
    """Whoever has a second factor proves that one; with the password alone nobody enrols another."""
    if not second_factor.may_enrol(call, found):
        raise e.FactorEnrolledBefore


__all__ = ["beginning", "register"]
