"""The end of a sign-in without a password on the interface: a session, a challenge, or what is demanded first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.contract import errors as e
from app.contract.passwordless import Entering
from app.contract.second_factors.challenge import FactorLogin
from app.identity.accounts.service import Account
from app.identity.authenticators.protocol import Wish
from app.identity.call import Call
from app.identity.outbox import Outbox
from app.identity.sign_in import entry, service
from app.identity.sign_in.second_factor import Way
from app.kit.clock import iso


def enter(call: Call, redeem: Callable[[Call], Account], way: Way, req: Entering) -> FactorLogin:
    """Use a proof up by `redeem`, and sign in whose it is. Where somebody may not, it stays unused.

    Where a policy must be accepted first it is used up for the token that accepts it: one proof, one token.

    Raises as `redeem` and `entry.enter` do.
    """
    wish = Wish(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    try:
        return entry.enter(call, redeem(call), way, fields=req.fields_, wish=wish)
    except e.PrivacyPolicyOutdated as refusal:
        call.work.rollback()
        with call.work.apart() as own:
            apart = replace(call, work=own, outbox=Outbox(own, call.house.clock, call.house.vault))
            issued = service.issue(apart, redeem(apart), way.methods)
        refusal.data = {"access_token": issued.access_token, "expires_in": iso(issued.access_expires_at)}
        raise
