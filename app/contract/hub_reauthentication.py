"""What the hub asks where somebody who is signed in has to prove it once more before they go on: "Is it still you?"."""

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.hashing import HASHES
from app.contract.hub import Next, PersonView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class ReauthenticationRequest(Wire):
    """`landing`: the path on this host to go on to, with what that page is about."""

    landing: str = Field(pattern=r"^/[a-z][a-z/-]*(\?(kind|id|provider)=[A-Za-z0-9_-]{1,64})?$", max_length=100)
    attempt: str | None = None  # of an application that wishes for two factors: on with it instead


class ReauthenticationStep(Wire):
    """Where the second factor is asked for; else whether the password is, or a new sign-in has to do."""

    next: Next | None = None
    person: PersonView
    is_needed: bool = True
    has_password: bool = True


begin = hub_operation(
    "hub.begin_confirm", "POST /hub/own/confirm", ReauthenticationRequest, ReauthenticationStep, errors=(e.NotAuthenticated,),
    summary="Begin to prove once more who is signed in; nothing is sent by it.",
)  # fmt: skip
with_password = hub_operation(
    "hub.confirm_with_password", "POST /hub/own/confirm/password", WithPassword, SessionRenewal, hashing=HASHES, errors=REAUTHENTICATION,
    summary="Prove it with the password, where no second factor stands beside it.",
)  # fmt: skip
