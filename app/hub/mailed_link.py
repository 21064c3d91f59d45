"""The token of a mailed link, as it stands in the addresses of the pages that such links lead to."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import request

from app.contract.mailed import MOST_TOKEN_LETTERS

PARAMETER: Final = "vtoken"
QUERY: Final = {PARAMETER: MOST_TOKEN_LETTERS}
"""What links to another language repeat of it."""


def token() -> str:
    """Return the token that this page was opened with."""
    return request.args.get(PARAMETER, "")[:MOST_TOKEN_LETTERS]


def address(page: str, shown: str, **more: str) -> str:
    """Return where the page's form is sent: its own address, so that it can be read in another language after all."""
    return f"{page}?{urlencode({**more, PARAMETER: shown})}"
