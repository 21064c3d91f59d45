"""The contract between hub, identity service and programs: operations, requests, responses and errors."""
