"""What profiles say: shares, agreement, and whether acting on them brings what they promise."""
