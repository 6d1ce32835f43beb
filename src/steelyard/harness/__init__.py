"""What benchmark harnesses write, read as iterations. Pure: text in, values out."""
