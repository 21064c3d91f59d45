"""The end of a sign-in without a password on the interface: a session, a challenge, or what is demanded first."""

from __future__ import annotations

from app.contract.passwordless import SignInParameters
from app.contract.second_factors.challenge import FactorLogin
from app.identity.authentication.sign_in import completion
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.credentials.authenticators.protocol import ChallengeOptions
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context


def complete(context: Context, account: Account, authentication: Authentication, req: SignInParameters) -> FactorLogin:
    """Sign in whoever a proof, just used up, was of. Where the account may not, the proof stays unused; where a policy or a
    consent is demanded first, it is used up for the token that goes on. Raises as `entry.enter` does."""
    options = ChallengeOptions(req.sms_template_2fa, req.email_template_2fa, req.is_voice_otp, req.duo_redirect_uri)
    return completion.complete(context, account, authentication, fields=req.fields_, options=options)
