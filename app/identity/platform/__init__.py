"""What every operation stands on: its context, the services of the process, the store, audit, outbox and encryption."""
