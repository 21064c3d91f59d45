"""The operations of sign-in."""

from app.contract import sign_in as contract
from app.contract.profile import Profile
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.sign_in import identifiers, service
from app.identity.sign_in.locks import Proof
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.with_password)(with_password)


def with_password(call: Call, req: contract.PasswordLogin) -> contract.Login:
    proof = Proof(req.security_answer, captcha.of_parameters(req))
    settings = call.tenant.settings
    identifier, hides = identifiers.stated(settings, req), settings.hide_unknown_accounts
    account = service.verify(call, identifier, req.password, proof, hides_unknown=hides)
    issued = service.issue(call, account)
    profile = accounts.signed_in_profile(call, account)
    return contract.Login(
        profile=Profile.of(accounts.project(profile, req.fields_)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
