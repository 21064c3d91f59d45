"""What is hostile in a response is hostile in a request, a logout message and metadata: the same cases, done to each of them."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.platform.saml.saml_rules import SamlRefusal
from tests.support.saml.all_cases import RESPONSE_CASES
from tests.support.saml.entrances import ENTRANCES, Entrance, hostile_messages

EACH = pytest.mark.parametrize("entrance", ENTRANCES, ids=lambda entrance: entrance.name)
SHAPES = {*(f"XSW{number}" for number in range(1, 9)), *(
    f"pysaml2 signed-xsw-{name}" for name in (
        "assertion-assertion", "assertion-extensions", "assertion-in-assertion-first-sig", "assertion-wrapper",
        "response-in-response-first-sig",
    )
)}  # fmt: skip


@EACH
def test_message_as_it_should_be_is_accepted(entrance: Entrance) -> None:
    assert entrance.reader(entrance.make())()


@EACH
def test_case_of_a_response_is_refused_here_too(entrance: Entrance, subtests: Any) -> None:
    for message in entrance.messages():
        with subtests.test(str(message)):
            with pytest.raises(SamlRefusal) as refused:
                message.read()
            assert refused.value.rule is message.rule, str(refused.value)


@EACH
def test_most_cases_apply_here(entrance: Entrance) -> None:
    """A change of the good messages must not make the cases inapplicable unseen."""
    assert len(list(entrance.messages())) > (100 if entrance.has_signature else 40)
    assert set(entrance.others) <= {case.name for case in RESPONSE_CASES}


def test_every_known_shape_of_wrapping_is_tried() -> None:
    """The names of the well-known paper, and those of the files in pysaml2’s `tests/xsw`."""
    tried = {case.name.partition(":")[0] for case in RESPONSE_CASES}
    assert tried >= SHAPES


def test_every_message_has_a_name_of_its_own() -> None:
    names = [str(message) for message in hostile_messages()]
    assert len(set(names)) == len(names)
