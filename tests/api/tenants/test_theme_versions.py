"""Versions of themes: drafts, publications, roll-backs, and changes at once."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from app.contract.themes import theme_problems
from app.contract.themes.theme_problems import ThemeProblem
from app.contract.themes.theme_version_operations import KEPT_VERSIONS
from tests.support.races import at_once
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


@pytest.mark.both_databases
def test_draft_shows_once_it_is_published(themes: Themes) -> None:
    theme = themes.stored("Autumn")
    saved = answered(themes.draft(theme, "Winter", Note="Snow", BaseVersion=1))
    assert (saved["Version"], saved["Note"], saved["IsPublished"], saved["PublishedDate"]) == (2, "Snow", False, None)
    assert themes.shown() == "Autumn"
    assert answered(themes.send("GET", f"/{theme}"))["Version"] == 1
    assert answered(themes.publish(theme, 2))["IsPublished"] is True
    assert themes.shown() == "Winter"
    changed = answered(themes.send("GET", f"/{theme}"))
    assert (changed["Version"], changed["Brand"]["DisplayName"], changed["IsActive"]) == (2, "Winter", True)
    assert [(item["Version"], item["IsPublished"]) for item in themes.listed(theme)] == [(2, True), (1, False)]
    former = answered(themes.send("GET", f"/{theme}/versions/1"))
    assert (former["Brand"]["DisplayName"], former["IsPublished"]) == ("Autumn", False)


@pytest.mark.both_databases
def test_publication_is_audited_with_both_versions(themes: Themes) -> None:
    theme = themes.stored()
    themes.drafted(theme, "Winter")
    answered(themes.publish(theme, 2))
    facts = themes.audited("theme_versions.published")[0]
    assert (facts["id"], facts["version"], facts["before"]) == (theme, 2, 1)
    assert facts["by"].startswith("robot-")
    assert themes.listed(theme)[0]["CreatedBy"] == facts["by"]


def test_update_of_active_theme_is_a_published_version(themes: Themes) -> None:
    theme = themes.stored()
    changed = answered(themes.send("PUT", f"/{theme}", {"Name": "Autumn", "Brand": {"DisplayName": "Late autumn"}}))
    assert changed["Version"] == 2
    assert (themes.shown(), themes.published(theme), len(themes.listed(theme))) == ("Late autumn", 2, 2)


def test_update_that_changes_no_look_adds_no_version(themes: Themes) -> None:
    theme = themes.stored()
    renamed = answered(themes.send("PUT", f"/{theme}", {"Name": "Fall", "Brand": {"DisplayName": "Autumn"}}))
    assert (renamed["Name"], renamed["Version"], len(themes.listed(theme))) == ("Fall", 1, 1)


def test_equal_draft_adds_no_version(themes: Themes) -> None:
    theme = themes.stored()
    assert themes.drafted(theme, "Autumn") == 1
    assert [themes.drafted(theme, "Winter"), themes.drafted(theme, "Winter")] == [2, 2]
    changed = answered(themes.send("PUT", f"/{theme}", {"Name": "Autumn", "Brand": {"DisplayName": "Winter"}}))
    assert (changed["Version"], len(themes.listed(theme))) == (2, 2)


def test_publishing_inactive_theme_changes_no_page(themes: Themes) -> None:
    themes.stored("Autumn")
    other = themes.stored("Spring", is_active=False)
    themes.drafted(other, "Late spring")
    answered(themes.publish(other, 2))
    assert (themes.shown(), themes.published(other)) == ("Autumn", 2)
    answered(themes.send("PUT", f"/{other}/activate"))
    assert themes.shown() == "Late spring"
    facts = themes.audited("themes.activated")[0]
    assert facts["id"] == other
    assert facts["by"].startswith("robot-")


@pytest.mark.both_databases
def test_roll_back_passes_over_drafts(themes: Themes) -> None:
    theme = themes.stored("One")
    for name in ("Two", "Draft", "Three"):
        themes.drafted(theme, name)
    answered(themes.publish(theme, 2))
    answered(themes.publish(theme, 4))
    assert answered(themes.send("PUT", f"/{theme}/roll-back", {}))["Version"] == 2
    assert themes.shown() == "Two"
    assert refused(themes.send("PUT", f"/{theme}/roll-back", {"BaseVersion": 4})) == (409, 8202)
    assert answered(themes.send("PUT", f"/{theme}/roll-back", {"BaseVersion": 2}))["Version"] == 1
    assert refused(themes.send("PUT", f"/{theme}/roll-back", {})) == (409, 8204)
    assert (themes.shown(), themes.published(theme)) == ("One", 1)


def test_roll_back_returns_to_what_was_shown_before(themes: Themes) -> None:
    theme = themes.stored("One")
    for number, name in ((2, "Two"), (3, "Three")):
        themes.drafted(theme, name)
        answered(themes.publish(theme, number))
    answered(themes.publish(theme, 1))  # by mistake
    shown = [answered(themes.send("PUT", f"/{theme}/roll-back", {}))["Version"] for _ in range(2)]
    assert shown == [3, 2]


@pytest.mark.both_databases
def test_one_of_two_drafts_of_one_base_is_refused(themes: Themes) -> None:
    theme = themes.stored()
    answers = at_once([partial(themes.draft, theme, f"D{number}", BaseVersion=1) for number in range(6)])
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    assert [item["Version"] for item in themes.listed(theme)] == [2, 1]


@pytest.mark.both_databases
def test_drafts_at_once_are_all_stored(themes: Themes) -> None:
    theme = themes.stored()
    answers = at_once([partial(themes.draft, theme, f"D{number}") for number in range(6)])
    assert sorted(answered(answer)["Version"] for answer in answers) == [2, 3, 4, 5, 6, 7]


@pytest.mark.both_databases
def test_updates_at_once_lose_none(themes: Themes) -> None:
    theme = themes.stored()
    body: dict[str, Any] = {"Name": "Autumn", "Version": 1}
    acts = [partial(themes.send, "PUT", f"/{theme}", {**body, "Brand": {"DisplayName": f"D{n}"}}) for n in range(6)]
    answers = at_once(acts)
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]
    (winner,) = [answer.get_json()["Brand"]["DisplayName"] for answer in answers if answer.status_code == 200]
    assert themes.shown() == winner


@pytest.mark.both_databases
def test_publications_at_once_leave_one_published(themes: Themes) -> None:
    theme = themes.stored()
    numbers = [themes.drafted(theme, f"D{number}") for number in range(6)]
    at_once([partial(themes.publish, theme, number) for number in numbers])
    published = themes.published(theme)
    assert themes.shown() == f"D{published - 2}"
    steps = [(facts["before"], facts["version"]) for facts in reversed(themes.audited("theme_versions.published"))]
    assert [before for before, _ in steps[1:]] == [version for _, version in steps[:-1]]
    assert steps[-1][1] == published


@pytest.mark.both_databases
def test_one_of_many_publications_of_one_base_wins(themes: Themes) -> None:
    theme = themes.stored()
    numbers = [themes.drafted(theme, f"D{number}") for number in range(4)]
    answers = at_once([partial(themes.publish, theme, number, BaseVersion=1) for number in numbers])
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]


def test_unusable_draft_is_refused_by_name(themes: Themes) -> None:
    theme = themes.stored()
    bad = {"Brand": {"Texts": {"en": {"continu": "Go"}}}}
    answer = themes.send("PUT", f"/{theme}/draft", bad)
    assert refused(answer) == (400, 7900)
    assert "Brand.Texts.en.continu" in answer.get_json()["Description"]
    assert len(themes.listed(theme)) == 1


def test_version_that_release_refuses_is_not_published(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    theme = themes.stored()
    themes.drafted(theme, "Winter")
    problem = ThemeProblem(("templates", "layouts/split.html"), 3, "another block")
    monkeypatch.setattr(theme_problems, "problems", lambda brand: [problem] if brand.display_name == "Winter" else [])
    assert refused(themes.publish(theme, 2)) == (400, 7900)
    assert refused(themes.publish(theme, 2, PublishAt=themes.later(days=1).isoformat())) == (400, 7900)
    assert (themes.shown(), themes.published(theme)) == ("Autumn", 1)
    assert [item["PublishAt"] for item in themes.listed(theme)] == [None, None]


def test_drafts_do_not_remove_the_version_to_return_to(themes: Themes) -> None:
    theme = themes.stored("First")
    for name, version in (("Second", 2), ("Third", 3)):
        assert themes.drafted(theme, name) == version
        answered(themes.publish(theme, version))
    for number in range(KEPT_VERSIONS + 10):
        themes.drafted(theme, f"D{number}")
    numbers = [item["Version"] for item in themes.listed(theme)]
    newest = KEPT_VERSIONS + 13
    assert numbers == [*range(newest, newest - KEPT_VERSIONS, -1), 3, 2]
    assert refused(themes.send("GET", f"/{theme}/versions/1")) == (404, 8203)
    assert answered(themes.send("PUT", f"/{theme}/roll-back", {}))["Version"] == 2
    assert themes.shown() == "Second"


def test_another_tenants_versions_are_unknown(themes: Themes, new_tenant_server: NewTenantServer) -> None:
    theme = themes.stored()
    themes.drafted(theme, "Winter")
    other = Themes(new_tenant_server())
    other.stored("Other")
    assert refused(other.send("GET", f"/{theme}/versions")) == (404, 8191)
    assert refused(other.send("GET", f"/{theme}/versions/2")) == (404, 8191)
    assert refused(other.draft(theme, "Taken")) == (404, 8191)
    assert refused(other.publish(theme, 2)) == (404, 8191)
    assert refused(other.send("PUT", f"/{theme}/roll-back", {})) == (404, 8191)
    assert refused(other.send("DELETE", f"/{theme}/versions/2/schedule")) == (404, 8191)
    assert (themes.published(theme), len(themes.listed(theme)), other.shown()) == (1, 2, "Other")


@pytest.mark.both_databases
def test_deleted_theme_leaves_no_version(themes: Themes) -> None:
    theme, other = themes.stored("One"), themes.stored("Two")
    themes.drafted(theme, "Draft")
    answered(themes.publish(theme, 2, PublishAt=themes.later(days=1).isoformat()))
    answered(themes.send("DELETE", f"/{theme}"))
    assert refused(themes.send("GET", f"/{theme}/versions")) == (404, 8191)
    assert themes.due(days=2) == []
    assert themes.published(other) == 1


def test_own_look_has_versions(themes: Themes) -> None:
    assert [(item["Version"], item["IsPublished"]) for item in themes.listed("brand")] == [(1, True)]
    assert themes.drafted("brand", "Own") == 2
    answered(themes.publish("brand", 2))
    assert themes.shown() == "Own"
    assert answered(themes.send("PUT", "/brand/roll-back", {}))["Version"] == 1
    assert themes.shown() == ""
    assert refused(themes.send("GET", "/brand")) == (404, 8191)


def test_own_look_returns_after_a_theme(themes: Themes) -> None:
    themes.drafted("brand", "Own")
    answered(themes.publish("brand", 2))
    themes.stored("Autumn")
    assert themes.shown() == "Autumn"
    answered(themes.publish("brand", 2))
    assert themes.shown() == "Own"
