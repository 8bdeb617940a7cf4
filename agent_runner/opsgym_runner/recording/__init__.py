"""What an attempt leaves behind: journal and transcript."""
