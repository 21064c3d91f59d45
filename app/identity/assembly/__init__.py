"""The assembly of a process: server, admission of callers, services, tables, worker and clean-up."""
