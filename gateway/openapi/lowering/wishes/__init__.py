"""What `import.yaml` says of single tools."""
