"""Operations behind the pages that choose and switch the accounts that one browser is signed in to."""

from pydantic import Field

from app.contract import errors
from app.contract.accounts.models import PersonView
from app.contract.catalogue import hub_operation
from app.contract.page_models import InteractionOnly
from app.contract.sign_in.sign_in_pages import InteractionRequest
from app.contract.steps import StepResponse
from app.kit.operations.wire import Wire


class ChooseAccountRequest(InteractionOnly):
    """`account` and `sign_out` are ids of `StepResponse.accounts`; without either, the person signs in to another account."""

    account: str = Field(default="", max_length=64)
    sign_out: str = Field(default="", max_length=64)


class FormAccount(Wire):
    """The account that a form was rendered for."""

    uid: str = Field(max_length=64)


class AccountsCompared(Wire):
    current: PersonView
    former: str = ""  # label of the form's account; empty if the browser is not signed in to it


accounts = hub_operation(
    "hub.accounts", "GET /hub/accounts/{interactionid}", InteractionRequest, StepResponse,
    summary="Read the accounts that an interaction may continue with.",
)  # fmt: skip
choose = hub_operation(
    "hub.choose_account", "POST /hub/accounts/choose", ChooseAccountRequest, StepResponse,
    summary="Continue an interaction with one of the browser's accounts, or sign out of one.",
)  # fmt: skip
compare = hub_operation(
    "hub.compare_accounts", "POST /hub/accounts/compare", FormAccount, AccountsCompared, errors=(errors.NotAuthenticated,),
    summary="Read the current account, and the one that a refused form was for.",
)  # fmt: skip
switch_back = hub_operation(
    "hub.switch_back", "POST /hub/accounts/switch-back", FormAccount, StepResponse, errors=(errors.NotAuthenticated,),
    summary="Make another account that the browser is signed in to the current one.",
)  # fmt: skip


class SwitchAccountRequest(InteractionOnly):
    account: str = Field(default="", max_length=64)  # uid of the account that the page shows; empty: unknown
    chooses: bool = False  # show the page that chooses an account; the session stays


switch_account = hub_operation(
    "hub.switch_account", "POST /hub/switch-account", SwitchAccountRequest, StepResponse,
    summary="End the session and return to the interaction's sign-in step.",
)  # fmt: skip
