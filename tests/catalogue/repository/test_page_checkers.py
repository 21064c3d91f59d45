"""The page checkers find the faults of an invalid page and none in a valid page."""

from tests.support.browsers.page_checkers import axe_source, html_problems

GOOD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in</title></head>
<body><main><h1>Sign in</h1><form method="post"><label for="a">Email</label><input id="a" name="a" type="email">
<button type="submit">Go</button></form></main></body></html>
"""


def test_valid_page_has_no_problems() -> None:
    assert html_problems({"good": GOOD}) == []


def test_broken_page_is_named_with_its_line() -> None:
    broken = GOOD.replace("</label>", "").replace('id="a"', 'id="a" id="b"')
    assert any(problem.startswith("broken:3 ") for problem in html_problems({"good": GOOD, "broken": broken}))


def test_axe_is_available() -> None:
    assert "axe.run" in axe_source()
