"""What a form or page shows for the error of an operation."""

from app.contract import errors
from app.hub.web.errors import shown_for
from app.kit.operations.errors import ApiError


def test_entry_of_the_nearest_class_is_shown() -> None:
    table = {ApiError: "any", errors.PasskeyMisconfigured: "base", errors.TooManyPasskeys: "own"}
    assert shown_for(errors.TooManyPasskeys(), table) == "own"
    del table[errors.TooManyPasskeys]
    assert shown_for(errors.TooManyPasskeys(), table) == "base"
    assert shown_for(errors.LastEmail(), table) == "any"


def test_error_without_an_entry_shows_nothing() -> None:
    assert shown_for(errors.LastEmail(), {errors.PasskeyMisconfigured: "base"}) is None
