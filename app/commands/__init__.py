"""The commands of `gatehouse`, one file per subject. Each imports what it needs when it runs, so that a start stays short."""
