"""Java: commands, the agent, the code map, and names of what is in a Java process."""
