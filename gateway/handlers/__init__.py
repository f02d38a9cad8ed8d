"""Python behind single connectors: what a field map cannot say."""
