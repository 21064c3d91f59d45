"""Why a message was not delivered."""

import re

from app.kit.logs import STRUCK

_SECRET = re.compile(r"[A-Za-z0-9_-]{40,}|(?<![0-9])[0-9]{6}(?![0-9])")
"""A link's token or a code: servers repeat in a refusal what they did not like."""


class Undelivered(Exception):
    """The text bears no token and no code.

    Args:
        is_final: trying again cannot help, the message is a dead letter at once.
        lacks_key: another worker may open it, or this one once it knows the line of the secret that it was sealed under.
        is_interrupted: we broke off ourselves before the receiver had all of it; the message goes back as it was.
    """

    def __init__(
        self, problem: str, *, is_final: bool = False, lacks_key: bool = False, is_interrupted: bool = False
    ) -> None:
        super().__init__(_SECRET.sub(STRUCK, problem))
        self.is_final = is_final
        self.lacks_key = lacks_key
        self.is_interrupted = is_interrupted
