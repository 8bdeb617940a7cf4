"""The console, the HTML report and the analyses that both show."""
