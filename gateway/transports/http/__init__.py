"""HTTP requests: what each must be, who sent it, and how errors are answered."""
