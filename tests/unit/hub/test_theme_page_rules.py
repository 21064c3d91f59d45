"""The rules for pages of a theme: what a template can break is named, and what it may do passes."""

from __future__ import annotations

import pytest

from app.hub.theme_check.document import PageDocument
from app.hub.theme_check.page_rules import left_out, markup_problems, page_parts, part_problems

TOKEN = f'<input type="hidden" name="token" value="{"x" * 43}">'
FORM = (
    f'<form method="post" action="/login">{TOKEN}<label for="email">Email</label><input id="email" name="email" type="email">'
    '<p id="email-problem" role="alert">Enter an email.</p><button name="do" value="go">Go</button></form>'
)
AROUND = (
    '<a href="?lang=de" hreflang="de">Deutsch</a><a href="/logout">Sign out</a><a href="https://a.example/">Terms</a>'
)
OURS = f'<body><main><h1>Sign in</h1>{FORM}<a href="/forgot">Forgot?</a></main>{AROUND}</body>'


def problems(themed: str, ours: str = OURS) -> list[str]:
    return [*part_problems(page_parts(PageDocument(ours)), page_parts(PageDocument(themed)))]


def test_our_page_has_no_problem() -> None:
    assert [*markup_problems(PageDocument(OURS))] == []
    assert problems(OURS) == []


def test_theme_may_surround_our_parts_and_leave_optional_links() -> None:
    themed = OURS.replace("<h1>", '<p class="own-a">Hi</p><a href="/help">Help</a><h1>').replace(
        '<a href="https://a.example/">Terms</a>', ""
    )
    assert problems(f'<div><a href="/more">More</a>{themed}</div>') == []
    assert [*left_out(page_parts(PageDocument(OURS)), page_parts(PageDocument(themed)))] == [
        "the link to https://a.example/"
    ]


@pytest.mark.parametrize(
    ("html", "sentence"),
    [
        ('<p id="a"></p><p id="a"></p>', "the id 'a' is there 2 times"),
        ('<p aria-labelledby="b"></p>', "aria-labelledby of <p> names the id 'b', which no element has"),
        ('<label for="b">B</label>', "for of <label> names the id 'b'"),
        ('<table><tr><td headers="b"></td></tr></table>', "headers of <td> names the id 'b'"),
        ('<a href="#b">B</a>', "a link leads to #b"),
        ("<h1>Two</h1>", "there are 2 <h1>"),
        ("<main></main>", "there are 2 <main>"),
        ('<form action="/a">', "</body> ends an open <form>"),
        ("</form>", "a </form> has no <form>"),
        ("<form><form></form></form>", "a <form> is within another <form>"),
        ("<div><form></div>", "</div> ends an open <form>"),
        ('<form action="/b"><main>', "a <form> is within another <form>"),
        ('<input name="q">', "the field 'q' has no label"),
    ],
)
def test_broken_markup_is_named(html: str, sentence: str) -> None:
    found = [*markup_problems(PageDocument(OURS.replace("<body>", f"<body>{html}")))]
    assert any(one.startswith(sentence) for one in found), found


@pytest.mark.parametrize(
    ("removed", "words"),
    [
        (TOKEN, "the CSRF token"),
        (FORM, "the form POST /login"),
        ('<input id="email" name="email" type="email">', "the email field email"),
        ('<p id="email-problem" role="alert">Enter an email.</p>', "the error “Enter an email.”"),
        ('<button name="do" value="go">Go</button>', "the button do go"),
        ('<a href="/forgot">Forgot?</a>', "the link to /forgot"),
        ('<a href="?lang=de" hreflang="de">Deutsch</a>', "the link to ?lang=de"),
        ('<a href="/logout">Sign out</a>', "the link to /logout"),
        ("<h1>Sign in</h1>", "the heading"),
    ],
)
def test_missing_and_hidden_parts_are_named(removed: str, words: str) -> None:
    assert f"{words} is missing: place the part that has it" in problems(OURS.replace(removed, ""))
    for hiding in ("div hidden", 'div aria-hidden="true"', "details", "div inert", "template"):
        hidden = f"<{hiding}>{removed}</{hiding.split()[0]}>"
        found = problems(OURS.replace(removed, hidden))
        assert removed == TOKEN or any(sentence.startswith(f"{words} is hidden") for sentence in found), hiding


def test_spoilt_token_and_changed_address_are_named() -> None:
    assert "the CSRF token is missing: place the part that has it" in problems(OURS.replace("x" * 43, ""))
    assert any("POST /login is missing" in one for one in problems(OURS.replace("/login", "https://evil.example/")))


def test_foreign_form_is_named() -> None:
    foreign = '<form action="https://evil.example/"><input name="password" type="password"></form>'
    assert [one.partition(" is there")[0] for one in problems(OURS.replace("<body>", f"<body>{foreign}"))] == [
        "the form GET https://evil.example/",
        "the password field password",
    ]


def test_parts_out_of_order_are_named() -> None:
    link = '<a href="/forgot">Forgot?</a>'
    swapped = OURS.replace(link, "").replace("<h1>", f"{link}<h1>")
    assert problems(swapped) == ["the link to /forgot is out of order: keep the order of our page"]


@pytest.mark.parametrize("around", ["div hidden/", "p hidden /", "svg hidden><g/></svg><span aria-hidden='true'/"])
def test_element_that_only_looks_closed_hides_what_follows(around: str) -> None:
    assert "the heading is hidden" in problems(OURS.replace("<main>", f"<main><{around}>"))[0]


def test_closed_shapes_of_a_drawing_hide_nothing() -> None:
    drawing = '<svg aria-hidden="true"><g hidden><path d="M0 0"/></g><path hidden d="M0 0"/></svg>'
    assert problems(OURS.replace("<main>", f"<main>{drawing}")) == []
