"""What programs and libraries are made of, read from their ELF files."""
