"""The folder of an imported document: the document, `import.yaml` and `overlay.yaml`."""
