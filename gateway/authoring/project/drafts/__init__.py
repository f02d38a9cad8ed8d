"""Drafts of contracts: files that lint and generate at once, with questions for their authors."""
