"""`make bench`: the budgets of the design, measured on the real server beside a bare Flask view in the same run."""
