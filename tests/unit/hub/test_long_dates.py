"""Long dates are those of Babel, in every language of the pages."""

from datetime import date

import pytest
from babel.dates import format_date
from flask import Flask

from app.hub.locale import LANGUAGES, use_language
from app.hub.rendering.formatting import long_date


@pytest.mark.parametrize("tag", LANGUAGES)
def test_long_date_is_that_of_babel(tag: str) -> None:
    days = [date(year, month, day) for year in (1, 987, 1815, 2026) for month in range(1, 13) for day in (1, 28)]
    with Flask(__name__).app_context():
        use_language(LANGUAGES[tag])
        assert [long_date(day) for day in days] == [format_date(day, "long", tag) for day in days]
