"""Tables of cases for operations: every refusal, and every spelling of a request that succeeds."""
