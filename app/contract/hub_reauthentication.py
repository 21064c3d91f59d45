"""Operations for reauthentication: the page "Is it still you?"."""

from pydantic import Field

from app.contract import errors as e
from app.contract.error_groups import REAUTHENTICATION
from app.contract.hashing import HASHES
from app.contract.hub import Next, PersonView
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.operations import hub_operation
from app.kit.wire import Wire


class ReauthenticationRequest(Wire):
    """`landing`: the path on this host that follows."""

    landing: str = Field(pattern=r"^/[a-z][a-z/-]*(\?(kind|id|provider)=[A-Za-z0-9_-]{1,64})?$", max_length=100)
    attempt: str | None = None  # the interaction of an application that requires a second factor; it continues instead


class ReauthenticationStep(Wire):
    """`next`: the second factor's page; else whether the password or a new sign-in is required."""

    next: Next | None = None
    person: PersonView
    is_needed: bool = True
    has_password: bool = True


begin = hub_operation(
    "hub.begin_confirm", "POST /hub/own/confirm", ReauthenticationRequest, ReauthenticationStep, errors=(e.NotAuthenticated,),
    summary="Start a reauthentication; sends nothing.",
)  # fmt: skip
with_password = hub_operation(
    "hub.confirm_with_password", "POST /hub/own/confirm/password", WithPassword, SessionRenewal, hashing=HASHES, errors=REAUTHENTICATION,
    summary="Reauthenticate with the password, if the account has no second factor.",
)  # fmt: skip
