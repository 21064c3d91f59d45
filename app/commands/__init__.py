"""The commands of `gatehouse`, one module per subject. Each imports heavy modules when it runs, for a short start."""
