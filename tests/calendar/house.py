"""A house of two people and their calendars, for tests of the tools."""

from __future__ import annotations

ANA, BO = {"x-access-token": "tok-ana"}, {"x-access-token": "tok-bo"}
"""Headers of the two users."""
NOON = "2026-04-01T12:30:00"

HOUSE = """
INSERT INTO users (user_id, email, name, static_token, timezone, is_active, is_verified, created_at, updated_at) VALUES
 ('ana', 'ana@house.test', 'Ana Berg', 'tok-ana', 'Europe/Berlin', 1, 1, '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('bo', 'bo@house.test', 'Bo Chen', 'tok-bo', 'Asia/Tokyo', 1, 1, '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO calendars (calendar_id, user_id, summary, time_zone, is_primary, hidden, selected, deleted, created_at,
 updated_at) VALUES
 ('home', 'ana', 'Home', 'Europe/Berlin', 1, 0, 1, 0, '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('club', 'ana', 'Club', 'Europe/Berlin', 0, 0, 1, 0, '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('tea', 'bo', 'Tea', 'Asia/Tokyo', 1, 0, 1, 0, '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO scopes (id, type, value) VALUES ('s-ana', 'user', 'ana@house.test'), ('s-bo', 'user', 'bo@house.test');
INSERT INTO acls (id, calendar_id, user_id, scope_id, role, created_at, updated_at) VALUES
 ('a1', 'home', 'ana', 's-ana', 'owner', '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('a2', 'club', 'ana', 's-ana', 'owner', '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('a3', 'tea', 'bo', 's-bo', 'owner', '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('a4', 'home', 'ana', 's-bo', 'reader', '2026-01-05 08:00:00', '2026-01-05 08:00:00');
INSERT INTO colors (id, color_id, color_type, background, foreground) VALUES (1, '5', 'EVENT', '#fbd75b', '#1d1d1d');
INSERT INTO events (event_id, calendar_id, user_id, organizer_id, organizer_email, organizer_display_name,
 organizer_self, summary, start_datetime, end_datetime, start_timezone, end_timezone, status, visibility, "eventType",
 "guestsCanInviteOthers", "guestsCanModify", "guestsCanSeeOtherGuests", sequence, transparency, "iCalUID", created_at,
 updated_at) VALUES
 ('rent', 'home', 'ana', 'ana', 'ana@house.test', 'Ana Berg', 1, 'Rent is due', '2026-04-01 09:00:00',
  '2026-04-01 09:30:00', 'Europe/Berlin', 'Europe/Berlin', 'confirmed', 'private', 'default', 1, 0, 1, 0, 'opaque',
  'rent@house.test', '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('dusk', 'home', 'ana', 'ana', 'ana@house.test', 'Ana Berg', 1, 'Walk', '2026-04-02 18:00:00',
  '2026-04-02 19:00:00', 'Europe/Berlin', 'Europe/Berlin', 'cancelled', 'default', 'default', 1, 0, 1, 0, 'opaque',
  'dusk@house.test', '2026-01-05 08:00:00', '2026-01-05 08:00:00'),
 ('brew', 'tea', 'bo', 'bo', 'bo@house.test', 'Bo Chen', 1, 'Brew', '2026-04-01 15:00:00',
  '2026-04-01 16:00:00', 'Asia/Tokyo', 'Asia/Tokyo', 'confirmed', 'default', 'default', 1, 0, 1, 0, 'opaque',
  'brew@house.test', '2026-01-05 08:00:00', '2026-01-05 08:00:00');
"""
