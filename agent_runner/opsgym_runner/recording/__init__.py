"""What an attempt leaves behind: journal, transcript and records."""
