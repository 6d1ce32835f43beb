"""Pages, whatever the kind of answer: templates, styles and scripts that several share."""
