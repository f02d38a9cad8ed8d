"""Finds tools by what a caller wants to do, among the tools that it may call."""
