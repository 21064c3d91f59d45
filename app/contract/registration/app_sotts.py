"""Management programs create SOTTs for apps, list them and take them back.

The docstrings are published."""

from typing import Annotated

from pydantic import Field

from app.contract import errors
from app.contract.resources import collection
from app.kit.operations.wire import Wire
from app.kit.resources.resource import CREATE, CREATED_AT, DELETE, FIXED, LIST, ONCE, READ_ONLY, Key

MAX_MINUTES = 527_040
"""366 days: an app with an embedded token is updated within that time."""


class AppSott(Wire):
    """A secured one-time token (SOTT), with which an app registers accounts until the token expires or is deleted. Only the
    response that creates it has `Sott`; later ones mask it. `IsEncoded` percent-encodes it for a URL. `DateRange` is an ISO
    8601 interval."""

    authenticity_token: Annotated[str, Key("authenticityToken", is_minted=True)]
    technology: Annotated[str, FIXED, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 .+#_-]{0,39}$")]
    sott: Annotated[str, ONCE] = ""
    comment: Annotated[str, FIXED, Field(max_length=500)] = ""
    expires_in_minutes: Annotated[int, FIXED, Field(ge=1, le=MAX_MINUTES)]
    is_encoded: Annotated[bool, FIXED] = False
    date_range: Annotated[str, READ_ONLY] = ""
    created_date: Annotated[str | None, CREATED_AT] = None


SOTTS = collection(
    "sotts", "/v2/manage/sott", AppSott, verbs=(LIST, CREATE, DELETE), noun="SOTT",
    about="An app that carries a secured one-time token (SOTT) can create accounts until the token expires or is deleted.",
    scope="sott", unknown=errors.BadField,
)  # fmt: skip
