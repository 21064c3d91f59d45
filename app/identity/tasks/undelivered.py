"""Why a message was not delivered."""

import re

from app.kit.logs import STRUCK

_SECRET = re.compile(r"[A-Za-z0-9_-]{40,}|(?<![0-9])[0-9]{6}(?![0-9])")
"""A link's token or a code: servers repeat in a refusal what they did not like."""


class Undelivered(Exception):
    """`is_final`: trying again cannot help, the message is a dead letter at once. The text bears no token and no code."""

    def __init__(self, problem: str, *, is_final: bool = False) -> None:
        super().__init__(_SECRET.sub(STRUCK, problem))
        self.is_final = is_final
