"""The page of security questions."""

from tests.support.journeys.account_pages import signed_in
from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt


def test_security_questions_appear_if_configured(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for questions in ({"pet": "First pet?"}, {}):
        world = new_world(security_questions=questions)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com"), "/security").text)
    assert ["Security questions" in page for page in pages] == [True, False]


def test_security_question_is_answered_and_not_shown(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(security_questions={"pet": "First pet?", "town": "Home town?"})
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world.person("ada@example.com"), "/security-questions")
    assert "First pet?" in page.text
    assert "Saved" in page.press("Save", answer_0="Rex").text
    again = visitor.open("/security-questions")
    assert "Answered. Leave blank to keep your answer." in again.text
    assert "Rex" not in again.html
