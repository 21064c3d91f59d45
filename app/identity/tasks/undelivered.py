"""Why a message was not delivered."""


class Undelivered(Exception):
    """`is_final`: trying again cannot help, the message is a dead letter at once."""

    def __init__(self, problem: str, *, is_final: bool = False) -> None:
        super().__init__(problem)
        self.is_final = is_final
