"""The rows of jobs, and of tasks that wait and end."""
