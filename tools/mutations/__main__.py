"""Run the command."""

from tools.mutations.changes import main

main()
