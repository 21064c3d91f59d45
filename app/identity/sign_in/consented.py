"""Consent by token: a sign-in that waits for it goes on (interface user.md row U83)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.consented import ConsentSubmitted, submit
from app.contract.sign_in import Login
from app.identity.accounts.sought import Identifier
from app.identity.call import Call
from app.identity.consent_forms import asking
from app.identity.consent_forms import service as forms
from app.identity.proofs import service as proofs
from app.identity.sign_in import entry, gates, service
from app.identity.sign_in.second_factor import way_of
from app.identity.tickets import service as tickets
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(submit)(with_token)


def with_token(call: Call, req: ConsentSubmitted) -> Login:
    """Wrong answers use nothing up; of many that are right one begins the session."""
    forms.refuse_off(call)
    ticket, account = asking.waiting(call, req.consent_token)
    answers, way = asking.answers(call, ticket, req), way_of(ticket.facts["way"])
    proofs.refuse_locked(call, account)
    if (closed := service.closed(call, account, Identifier(way.kind, ""))) is not None:
        raise closed
    if not tickets.spend(call, ticket):
        raise e.WrongConsentToken
    account = forms.give(call, account, answers, is_silent=req.is_silent)
    return entry.plain(entry.session(call, account, way, after=gates.CONSENT))
