"""Workflow files (Arazzo): read with every problem named, in records that a test can follow."""
