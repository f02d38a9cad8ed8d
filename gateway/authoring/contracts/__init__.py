"""Reads contracts: files, references and findings. Also the caches of earlier runs."""
