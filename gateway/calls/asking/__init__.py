"""What calls need of their clients besides arguments."""
