"""The input filter: which values are dangerous, in one pass over the text."""

import pytest

from app.kit import input_filter

ACTIVE = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//x>",
    "Ada</script >",
    "<style>*{}",
    "<script",
    "<img src=x onerror=alert(1)>",
    '<img alt="<" onerror = alert(1)>',
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>Ada</a>",
    "<iframe\nsrcdoc=x>",
    "<base href=//x>",
    '<meta http-equiv="refresh" content=0>',
    "<p style=position:fixed>",
    "<svg><a><animate attributeName=href values=javascript:x>",
    "<\u017fcript>",  # a long s becomes an S in upper case
]
ORDINARY = [
    "I <3 you & them",
    "a < b && c > d",
    "if a<b then c>d",
    "x<y",
    "List<String> names = of()",
    "R&D <lab@example.com>",
    "<- back",
    "5<6<7",
    "see <link here>",
    "<https://example.com/?src=1&href=2>",
    "&lt;b&gt; &amp;",
    "JavaScript: The Good Parts",
    "onclick = 1",
    "href=x src=y",
    "<b>bold</b>",
    "scripted <scripture>",
    "\u202e <\u4e2d>",
]


@pytest.mark.parametrize("text", ACTIVE)
def test_markup_that_browsers_run_or_load_is_dangerous(text: str) -> None:
    assert input_filter.has_active_markup(text)
    for body in ({"FirstName": text}, {"A": [{"B": text}]}, {"CustomFields": {text: "x"}}):
        assert input_filter.is_dangerous(body, with_markup=True)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_not_dangerous(text: str) -> None:
    assert not input_filter.is_dangerous({"About": text}, with_markup=True)


@pytest.mark.parametrize(
    "name",
    ["password", "NewPassword", "confirm_password", "client_secret", "securityanswer", "PIN", "oldpin", "new_pin"],
)
def test_secrets_are_not_searched_for_markup(name: str) -> None:
    for text in ACTIVE:
        assert not input_filter.is_dangerous({name: text}, with_markup=True)
        assert not input_filter.is_dangerous({name: {"q1": [text]}}, with_markup=True)
    assert input_filter.is_dangerous({name: "a\x00b"}, with_markup=True)


@pytest.mark.parametrize("name", ["Spinner", "Shipping", "passenger"])
def test_name_similar_to_a_secret_field_is_searched(name: str) -> None:
    assert input_filter.is_dangerous({name: ACTIVE[0]}, with_markup=True)


@pytest.mark.parametrize(
    "piece", ["<a ", "<a on", "<a onaaaa ", "<a/src", "<", "<script", " onx   ", '"on', "</", "<a href \t\n"]
)
def test_hostile_text_of_a_megabyte_is_read_in_one_pass(piece: str) -> None:
    text = "<a" + piece * (1_000_000 // len(piece)) + "!"
    assert (
        not input_filter.has_active_markup(text) or "script" in piece
    )  # were it quadratic, the test would not come back
