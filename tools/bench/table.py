"""The lines as a table for the terminal, which Markdown reads too."""

from collections.abc import Sequence

from tools.bench.measurement import MeasuredLine

HEAD = ("operation", "counted", "measured", "bar", "aim", "")


def printed(lines: Sequence[MeasuredLine]) -> str:
    """Columns as wide as their widest cell."""
    rows = [HEAD, *(_cells(line) for line in lines)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
    rule = ["-" * width for width in widths]
    return "\n".join(_joined(row, widths) for row in (rows[0], rule, *rows[1:]))


def _cells(line: MeasuredLine) -> tuple[str, ...]:
    if not line.bar:
        verdict = ""
    elif line.is_over:
        verdict = "OVER THE BAR"
    else:
        verdict = "aim reached" if line.is_reached else "within the bar"
    return line.operation, line.counts, line.measured, line.bar, line.aim, verdict


def _joined(row: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
