"""What a host may use before it has proven who it is: addresses, rates, connections, bytes."""
