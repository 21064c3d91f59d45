"""The page about calls of workflows: its request and answers are those of the code, and its commands work."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema_rs
import pytest
from joserfc.jwk import OctKey

from app.commands import workflows
from app.contract.workflows.http_calls import (
    MAX_ANSWER_BYTES,
    MAX_CLAIM_BYTES,
    CallRequest,
    CallResponse,
    answer_schema,
)
from app.contract.workflows.result_pages import MAX_RESULT_LENGTH, RETURN_PATH
from app.contract.workflows.workflow_trials import MAX_SIGN_INS, TriedStep, UnknownFact, WorkflowTrial
from app.identity.administration.workflows.rehearsal import past_facts
from app.identity.authentication.sign_in.workflows import redirect_results
from app.identity.authentication.workflows import call_signatures
from app.identity.platform import jwts
from tools.pins.strings import ROOT

PAGE = (ROOT / "docs" / "workflow-calls.md").read_text()
API_SECRET = "4f1c5a0e-8d7b-4c51-9d0a-6d3f4b2a1c9e"


def blocks(language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


def test_request_is_one_that_calls_send() -> None:
    stated = json.loads(blocks("json")[0])

    assert json.loads(CallRequest.model_validate(stated).to_json()) == stated


def test_answers_are_accepted() -> None:
    for block in blocks("json")[1:]:
        CallResponse.model_validate_json(block)
    actions = re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE)
    assert set(actions) == {"continue", "deny", "step_up", "redirect"}
    assert f"{MAX_ANSWER_BYTES:,} bytes" in PAGE
    assert f"at most {MAX_CLAIM_BYTES:,} bytes" in PAGE


def test_published_schema_is_that_of_answers() -> None:
    schema = json.loads((ROOT / "docs" / "workflow-answer.schema.json").read_text())

    assert schema == answer_schema()
    validator = jsonschema_rs.validator_for(schema)
    assert all(validator.is_valid(json.loads(block)) for block in blocks("json")[1:])
    assert not validator.is_valid({"action": "deny"})


@pytest.mark.parametrize("name", ["", "partners"])
def test_command_derives_the_secret(name: str) -> None:
    command = blocks("sh")[0].replace("=partners", f"={name}").replace("paste-the-api-secret", API_SECRET)
    made = subprocess.run(["sh", "-c", command], capture_output=True, check=True, text=True)

    assert made.stdout.strip() == call_signatures.secret_of(API_SECRET, name)


def test_page_sends_a_result_that_counts() -> None:
    secret = call_signatures.secret_of(API_SECRET, "partners")
    program: dict[str, Any] = {}
    exec(blocks("python")[-1], program)

    parts = urlsplit(program["back"]("https://id.acme.example/continue", "a-uid", "5tate", secret))
    sent = dict(parse_qsl(parts.query))
    assert (parts.path, sent["state"]) == (RETURN_PATH, "5tate")
    key = OctKey.import_key(call_signatures.key_of(API_SECRET, "partners"))
    claims = jwts.read_jwt(sent["result"], lambda _: [key], redirect_results.PROFILE).claims
    assert (claims["state"], claims["sub"], claims["Action"]) == ("5tate", "a-uid", "continue")
    assert all(redirect_results.PROFILE.times(claims, datetime.now(UTC)).values())
    assert f"at most {MAX_RESULT_LENGTH:,} characters" in PAGE


def test_report_is_one_that_the_command_prints() -> None:
    def step(kind: str, name: str, reached: int, outputs: dict[str, int], **counts: int) -> TriedStep:
        others = {"stopped": 0, "asked": 0, "unknown": 0, **counts}
        return TriedStep(node=name, type=kind, label="", reached=reached, outputs=outputs, **others)

    trial = WorkflowTrial(
        since="2027-01-01T18:00:00.000Z", until="2027-01-31T18:00:00.000Z", is_complete=True, sign_ins=10_000, passed=8_959, stopped=41,
        unknown=1_000, asked_for_factor=312, asked_to_act=0,
        steps=[
            step("Start", "start", 10_000, {"next": 10_000}), step("Login", "login", 10_000, {"next": 10_000}),
            step("Condition", "abroad", 10_000, {"true": 41, "false": 8_959}, unknown=1_000),
            step("Condition", "partner", 8_959, {"true": 382, "false": 8_577}), step("Deny", "refused", 41, {}, stopped=41),
            step("MFA", "Partners", 382, {"next": 382}, asked=312), step("SuccessFinalNode", "end", 8_959, {}),
        ],
        unknown_facts=[UnknownFact(name="sign_in.is_new_country", sign_ins=1_000)], current_facts=[],
    )  # fmt: skip

    assert f"```text\n{workflows.report(trial)}\n```" in PAGE


def test_page_names_what_is_read_from_accounts_now() -> None:
    _, _, limits = PAGE.partition("Know its limits:")
    (sentence,) = re.findall(r"^- (`account\.email`.*?)\*\*now\*\*", limits, re.MULTILINE | re.DOTALL)

    assert set(re.findall(r"`(account\.\w+)`", sentence)) == past_facts.AS_NOW
    assert f"{MAX_SIGN_INS:,} sign-ins" in PAGE
