"""An account's owner sets and removes its picture."""

from __future__ import annotations

from typing import Any, Final

from app.contract.accounts.self_service_operations import UpdateOwnAccount
from app.identity.directory import pictures
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import change_profile
from app.kit.images.image_format import PORTRAIT
from app.kit.limits.rate_limits import Rate

_RATE: Final = Rate(20, 3600)
_NO_PICTURE: Final[dict[str, Any]] = dict.fromkeys(
    ("ImageUrl", "HttpsImageUrl", "GravatarImageUrl", "ThumbnailImageUrl")
)
"""Every member that the claim `picture` may come from."""


def change(context: Context, account: Account, content: str) -> str:
    """Replace the account's picture by an uploaded file, in base64; return its address.

    Raises as `pictures.converted` and `change_profile.update`, TooManyRequests after 20 pictures in an hour.
    """
    context.count_against("own_picture", _RATE, account.uid)
    image = pictures.converted(context, content, PORTRAIT)
    address = pictures.new_address(context, image)
    change_profile.update(context, account, UpdateOwnAccount.model_validate({"ImageUrl": address}))
    pictures.add(context, address, image, uid=account.uid)
    return address


def remove(context: Context, account: Account) -> None:
    """Remove the account's picture, an uploaded one or the address of another. Raises as `change_profile.update`."""
    change_profile.update(context, account, UpdateOwnAccount.model_validate({**_NO_PICTURE, "null_support": True}))
