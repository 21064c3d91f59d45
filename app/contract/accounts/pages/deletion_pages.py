"""Operations behind the pages that delete an account."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.catalogue import hub_operation
from app.contract.page_models import LinkToken, Token
from app.contract.shared_responses import Posted
from app.kit.operations.wire import From, Wire


class DeletionLinkRequest(Wire):
    token: Annotated[Token, From.QUERY]


class DeletionView(Wire):
    """The account that a link deletes; `days`: how long the deletion can be cancelled."""

    email: str
    days: int = 0


class DeletionScheduled(Wire):
    """`leaves_at`: until when the deletion can be cancelled; None: the account is deleted."""

    leaves_at: str | None = None
    ends_session: bool = False


class KeepRequest(Wire):
    token: Annotated[str, Field(max_length=500)]


read_deletion = hub_operation(
    "hub.read_deletion", "GET /hub/deletion", DeletionLinkRequest, DeletionView,
    errors=(errors.WrongDeleteToken, errors.UsedLink, errors.ExpiredLink),
    summary="Read the state of a deletion link without using it.",
)  # fmt: skip


confirm_deletion = hub_operation(
    "hub.confirm_deletion", "POST /hub/deletion", LinkToken, DeletionScheduled,
    errors=(errors.WrongDeleteToken, errors.UsedLink, errors.ExpiredLink), summary="Delete an account with an emailed link.",
)  # fmt: skip


cancel_deletion = hub_operation(
    "hub.cancel_deletion", "POST /hub/deletion/undo", KeepRequest, Posted, errors=(errors.WrongDeleteToken,),
    summary="Cancel a scheduled deletion with the token of a refused sign-in.",
)  # fmt: skip
