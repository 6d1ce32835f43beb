"""Compiler drivers, and commands on the layout of programs."""
