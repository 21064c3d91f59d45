"""Every step has a model of its own, a sample, and a page or a response in the journey."""

from __future__ import annotations

from collections import Counter

import pytest

from app.contract.steps import ConfirmSignOutStep, StepResponse
from app.hub.journey import JOURNEY
from tests.support.visitors.answered_step import STEPS
from tests.support.visitors.step_samples import SAMPLES


def test_every_step_has_a_page_or_a_response() -> None:
    assert set(STEPS) - set(JOURNEY) == {ConfirmSignOutStep}, "the page that asks for it handles it"
    assert set(JOURNEY) <= set(STEPS)


def test_every_step_has_a_sample() -> None:
    assert {type(sample) for sample in SAMPLES} == set(STEPS)


def test_no_step_passes_for_another_one() -> None:
    assert [(step, other) for step in STEPS for other in STEPS if step is not other and issubclass(step, other)] == []


def test_no_two_steps_have_one_name() -> None:
    names = Counter(step.model_fields["step"].default for step in STEPS)
    assert names.most_common(1)[0][1] == 1


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.step)
def test_step_crosses_the_network_unchanged(sample: object) -> None:
    sent = StepResponse.model_validate({"step": sample, "interaction_id": "one"})
    assert StepResponse.model_validate_json(sent.to_json()) == sent


def test_unknown_step_is_refused() -> None:
    with pytest.raises(ValueError, match="elsewhere"):
        StepResponse.model_validate_json('{"Step": {"Step": "elsewhere"}}')
