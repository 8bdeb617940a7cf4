"""Collaboration in the manner of Microsoft Teams: teams, channels, chats, calls and virtual events."""
