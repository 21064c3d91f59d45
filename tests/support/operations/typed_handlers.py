"""Handlers that mypy must refuse: should it accept one, its unused `type: ignore` fails the type check."""

from app.contract.auth import Host
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import ErrorProfile, Operation
from app.kit.operations.wire import Wire

PROFILE = ErrorProfile("test", ApiError, ApiError, ApiError, ApiError, ApiError)


class CountedWords(Wire):
    number: int


class Counting(Wire):
    most: int


COUNT = Operation("things.count", "POST", "/things", Counting, CountedWords, Host.API, PROFILE)


def mistyped() -> None:
    """Never called: only its types are checked."""

    @COUNT.implements  # type: ignore[arg-type]  # the request differs
    def wrong_request(_context: object, _req: CountedWords) -> CountedWords:
        return CountedWords(number=1)

    @COUNT.implements  # type: ignore[arg-type]  # the response differs
    def wrong_response(_context: object, _req: Counting) -> Counting:
        return Counting(most=1)
