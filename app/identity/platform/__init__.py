"""The foundation of every operation: context, services of the process, store, audit, outbox and encryption."""
