"""The end of a sign-in without a password on the interface: a session, a challenge, or what is demanded first."""

from __future__ import annotations

from collections.abc import Callable

from app.contract.passwordless import Entering
from app.contract.second_factors.challenge import FactorLogin
from app.identity.accounts.service import Account
from app.identity.authenticators.protocol import Wish
from app.identity.call import Call
from app.identity.sign_in import entry
from app.identity.sign_in.second_factor import Way


def enter(call: Call, redeem: Callable[[Call], Account], way: Way, req: Entering) -> FactorLogin:
    """Use a proof up by `redeem`, and sign in whose it is. Where somebody may not, it stays unused.

    Where something must be accepted first it is used up for the token that goes on: one proof, one token.

    Raises as `redeem` and `entry.enter` do.
    """
    wish = Wish(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return entry.enter(call, redeem(call), way, fields=req.fields_, wish=wish)
