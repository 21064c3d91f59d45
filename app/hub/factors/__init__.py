"""What people see of each authenticator: its name, its form, and the states of its page. One file each."""
