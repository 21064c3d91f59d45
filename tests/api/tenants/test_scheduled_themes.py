"""Versions of themes that wait for their time: one worker publishes each once."""

from __future__ import annotations

from functools import partial

import pytest

from app.contract.themes import theme_problems
from app.contract.themes.theme_problems import ThemeProblem
from app.contract.themes.theme_version_operations import MAX_SCHEDULED
from tests.support.races import at_once
from tests.support.tenants.managed_themes import Themes
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


@pytest.fixture
def themes(new_tenant_server: NewTenantServer) -> Themes:
    return Themes(new_tenant_server())


def scheduled(themes: Themes, name: str, **time: int) -> tuple[str, int]:
    theme = themes.stored()
    version = themes.drafted(theme, name)
    entry = answered(themes.publish(theme, version, PublishAt=themes.later(**time).isoformat()))
    assert (entry["IsPublished"], entry["PublishAt"] is not None) == (False, True)
    return theme, version


@pytest.mark.both_databases
def test_version_is_published_at_its_time(themes: Themes) -> None:
    theme, version = scheduled(themes, "Winter", hours=1)
    assert themes.due(minutes=59) == []
    assert themes.shown() == "Autumn"
    assert themes.due(minutes=61) == [version]
    assert (themes.shown(), themes.published(theme)) == ("Winter", version)
    assert themes.due(hours=2) == []
    assert themes.listed(theme)[0]["PublishAt"] is None
    facts = themes.audited("theme_versions.published")[0]
    assert (facts["version"], facts["before"], facts["by"]) == (version, 1, "schedule")


@pytest.mark.both_databases
def test_workers_at_once_publish_each_version_once(themes: Themes) -> None:
    theme, version = scheduled(themes, "Winter", hours=1)
    at_once([partial(themes.work_at, hours=2) for _ in range(6)])
    versions = [facts["version"] for facts in themes.audited("theme_versions.published")]
    assert (versions.count(version), themes.published(theme)) == (1, version)


def test_schedules_pass_in_their_order(themes: Themes) -> None:
    theme, version = scheduled(themes, "Winter", hours=2)
    answered(themes.publish(theme, 1, PublishAt=themes.later(hours=3).isoformat()))
    assert themes.due(hours=4) == [version, 1]
    assert themes.shown() == "Autumn"


def test_cancelled_schedule_publishes_nothing(themes: Themes) -> None:
    theme, version = scheduled(themes, "Winter", hours=1)
    for _ in range(2):
        entry = answered(themes.send("DELETE", f"/{theme}/versions/{version}/schedule"))
        assert (entry["Version"], entry["PublishAt"]) == (version, None)
    assert themes.due(hours=2) == []
    assert themes.shown() == "Autumn"
    assert len(themes.audited("theme_versions.schedule_cancelled")) == 1


def test_publication_before_its_time_ends_the_schedule(themes: Themes) -> None:
    theme, version = scheduled(themes, "Winter", hours=1)
    answered(themes.publish(theme, version))
    answered(themes.publish(theme, 1))
    assert themes.due(hours=2) == []
    assert themes.shown() == "Autumn"


@pytest.mark.both_databases
def test_refused_version_is_audited_and_waits_no_more(themes: Themes, monkeypatch: pytest.MonkeyPatch) -> None:
    theme, version = scheduled(themes, "Winter", hours=1)
    problem = ThemeProblem(("templates", "layouts/split.html"), 3, "another block")
    monkeypatch.setattr(theme_problems, "problems", lambda brand: [problem] if brand.display_name == "Winter" else [])
    assert themes.due(hours=2) == []
    monkeypatch.undo()
    assert themes.due(hours=3) == []
    assert (themes.shown(), themes.published(theme)) == ("Autumn", 1)
    (facts,) = themes.audited("theme_versions.refused")
    assert (facts["id"], facts["version"]) == (theme, version)
    assert "layouts/split.html" in facts["reason"]


def test_times_that_no_schedule_can_have_are_refused(themes: Themes) -> None:
    theme = themes.stored()
    for at in (themes.later(seconds=-1).isoformat(), themes.later(days=401).isoformat(), "soon", ""):
        assert refused(themes.publish(theme, 1, PublishAt=at)) == (400, 7900)
    assert refused(themes.publish(theme, 9, PublishAt=themes.later(days=1).isoformat())) == (404, 8203)
    assert themes.due(days=500) == []


def test_waiting_versions_are_bounded(themes: Themes) -> None:
    theme = themes.stored()
    at = themes.later(days=1).isoformat()
    for number in range(MAX_SCHEDULED):
        answered(themes.publish(theme, themes.drafted(theme, f"D{number}"), PublishAt=at))
    last = themes.drafted(theme, "Last")
    assert refused(themes.publish(theme, last, PublishAt=at)) == (400, 7900)
    answered(themes.publish(theme, last - 1, PublishAt=themes.later(days=2).isoformat()))


def test_schedule_of_a_tenant_publishes_none_of_another(themes: Themes, new_tenant_server: NewTenantServer) -> None:
    scheduled(themes, "Winter", hours=1)
    other = Themes(new_tenant_server())
    theme, _ = scheduled(other, "Spring", hours=9)
    assert len(themes.due(hours=2)) == 1
    assert (themes.shown(), other.shown(), other.published(theme)) == ("Winter", "Autumn", 1)
