"""What a form or page shows for the error of an operation."""

from app.contract import errors as e
from app.hub.web.errors import shown_for
from app.kit.operations.errors import ApiError


def test_entry_of_the_nearest_class_is_shown() -> None:
    table = {ApiError: "any", e.PasskeyMisconfigured: "base", e.TooManyPasskeys: "own"}
    assert shown_for(e.TooManyPasskeys(), table) == "own"
    del table[e.TooManyPasskeys]
    assert shown_for(e.TooManyPasskeys(), table) == "base"
    assert shown_for(e.LastEmail(), table) == "any"


def test_error_without_an_entry_shows_nothing() -> None:
    assert shown_for(e.LastEmail(), {e.PasskeyMisconfigured: "base"}) is None
