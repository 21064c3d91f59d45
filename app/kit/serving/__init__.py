"""The server in front of the applications: reads requests whole before a thread is taken."""
