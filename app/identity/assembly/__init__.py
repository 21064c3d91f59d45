"""The process: the server, its callers, the services put together, the list of tables, the worker and the clean-up."""
