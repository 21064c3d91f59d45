"""Operations for the accounts that one browser is signed in to."""

from pydantic import Field

from app.contract.hub import InteractionRequest, Next
from app.contract.hub_models import InteractionOnly
from app.contract.operations import hub_operation


class ChooseAccountRequest(InteractionOnly):
    """`account` and `sign_out` are ids of `Next.accounts`; without either, the person signs in to another account."""

    account: str = Field(default="", max_length=64)
    sign_out: str = Field(default="", max_length=64)


accounts = hub_operation(
    "hub.accounts", "GET /hub/accounts/{attempt}", InteractionRequest, Next,
    summary="Read the accounts that an interaction may continue with.",
)  # fmt: skip
choose = hub_operation(
    "hub.choose_account", "POST /hub/accounts/choose", ChooseAccountRequest, Next,
    summary="Continue an interaction with one of the browser's accounts, or sign out of one.",
)  # fmt: skip
