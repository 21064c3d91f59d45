"""gatehouse workflow: tries a draft of a workflow on past sign-ins."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, as_command_errors, open_services
from app.commands.prompts import counted, only_tenant, outside_requests

if TYPE_CHECKING:
    from app.contract.workflows.workflow_trials import TriedStep, WorkflowTrial
    from app.identity.administration.workflows.rehearsal.rehearsal import Span
    from app.identity.authentication.workflows.workflow import RunnableWorkflow
    from app.identity.platform.services import IdentityServices

_UNITS = {"d": "days", "h": "hours", "m": "minutes"}
_AGO = re.compile(r"([1-9][0-9]{0,4})([dhm])")
_FIRST = datetime(1970, 2, 1, tzinfo=UTC)


@click.group
def workflow() -> None:
    """Try workflows before sign-ins follow them."""


@workflow.command("try")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--since", default="30d", show_default=True, help="How far back: 30d, 12h, or a date such as 2027-01-31.")
@click.option("--until", default="", help="The end of the time, as --since. Default: now.")
@click.option("--tenant", "tenant_name", default="", help="The tenant. Not needed if there's only one.")
@click.option(
    "--assume-calls",
    default="unknown",
    show_default=True,
    type=click.Choice(["unknown", "continue", "deny", "failure"], case_sensitive=False),
    help="What the servers of HttpCall nodes are assumed to answer, because none is called.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the counts as JSON.")
def workflow_try(file: Path, since: str, until: str, tenant_name: str, assume_calls: str, is_json: bool) -> None:
    """Say what the draft in FILE would have done with past sign-ins.

    FILE is a workflow as the API has it, or only its graph, as JSON or YAML. The sign-ins are those of the audit log, which
    succeeded. Nothing changes, nobody is asked, and no server is called.
    """
    draft = _draft(file)
    with open_services() as services:
        span = _span(services.clock.now(), since, until)
        found = _trial(services, tenant_name or only_tenant(services), draft, assume_calls.capitalize(), span)
    click.echo(found.to_json().decode() if is_json else report(found))


def _trial(services: IdentityServices, name: str, draft: RunnableWorkflow, assumed: str, span: Span) -> WorkflowTrial:
    from app.identity.administration.workflows.rehearsal.rehearsal import Rehearsal

    with outside_requests(services, name) as context:
        return Rehearsal(context, draft, assumed).run(span)  # type: ignore[arg-type] # one of click's choices


def _draft(file: Path) -> RunnableWorkflow:
    """Return the draft in a file. Raises CommandError."""
    from app.identity.administration.configuration.file import yaml_document
    from app.identity.administration.configuration.file.yaml_document import ConfigurationError
    from app.identity.administration.workflows.drafts import read_draft
    from app.identity.authentication.workflows.workflow import NotRunnable

    with as_command_errors():
        text = file.read_bytes()
    try:
        value = yaml_document.read(text, str(file)).value
    except ConfigurationError as problem:
        raise CommandError(str(problem)) from None
    members = value if isinstance(value, dict) else {}
    data = next((found for found in (members.get("Data"), members.get("data")) if isinstance(found, dict)), members)
    try:
        return read_draft(data)
    except NotRunnable as problem:
        raise CommandError(f"{file}: expected {problem}.") from None


def _span(now: datetime, since: str, until: str) -> Span:
    from app.identity.administration.workflows.rehearsal.rehearsal import Span

    end = min(_moment("--until", until, now), now) if until else now
    begin = max(_moment("--since", since, now), _FIRST)
    if begin >= end:
        raise CommandError("--since must be before --until.")
    return Span(begin, end)


def _moment(option: str, text: str, now: datetime) -> datetime:
    """Return the moment that an option states: how long ago, or a date or time. Raises CommandError."""
    from app.contract.configuration_model import instant

    if found := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
    try:
        return instant(text)
    except ValueError as problem:
        raise CommandError(f"{option}: expected 30d, 12h, or {problem}.") from None


def report(found: WorkflowTrial) -> str:
    """Return what the draft would have done, as sentences."""
    since, until = (text[:16].replace("T", " ") for text in (found.since, found.until))
    asked = f"asked {found.asked_for_factor} for a second factor and {found.asked_to_act} for more data"
    lines = [
        f"{counted(found.sign_ins, 'sign-in')} from {since} to {until} UTC",
        f"Would have stopped {found.stopped}, {asked}, and completed {found.passed}. Undecided: {found.unknown}.",
        "",
    ]
    lines += [_line(step) for step in found.steps]
    if found.unknown_facts:
        lines += ["", "The audit log lacks these facts for some sign-ins, which count as undecided:"]
        lines += [f"  {fact.name}: {counted(fact.sign_ins, 'sign-in')}" for fact in found.unknown_facts]
    if found.current_facts:
        lines += ["", f"As the accounts are now, not as they were: {', '.join(found.current_facts)}."]
    return "\n".join(lines)


def _line(step: TriedStep) -> str:
    counts = [f"reached {step.reached}", *(f"{output} {number}" for output, number in sorted(step.outputs.items()))]
    named = {"stopped": step.stopped, "asked": step.asked, "unknown": step.unknown}
    counts += [f"{name} {number}" for name, number in named.items() if number]
    return f"  {step.type:18} {step.label or step.node}: {', '.join(counts)}"
