"""The recipes that come with Steelyard: NAME.toml, and a folder NAME for what one brings along."""
