"""The words of generated field maps: values read, converted, guarded and left out."""
