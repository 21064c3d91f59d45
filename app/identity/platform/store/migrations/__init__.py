"""The schema's history. One purpose per revision, safe while the code before it still runs (expand, move, contract)."""
