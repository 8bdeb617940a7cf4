"""Enumerations of email. Source: the published tool schemas, and the reference of the Gmail API."""

from __future__ import annotations

from typing import Literal

MessageListVisibility = Literal["show", "hide"]
LabelListVisibility = Literal["labelShow", "labelShowIfUnread", "labelHide"]
LabelType = Literal["system", "user"]
AccessWindow = Literal["disabled", "fromNowOn", "allMail"]
Disposition = Literal["leaveInInbox", "archive", "trash", "markRead"]
ExpungeBehavior = Literal["archive", "trash", "deleteForever"]
VerificationStatus = Literal["verificationStatusUnspecified", "accepted", "pending", "rejected", "expired"]
HistoryType = Literal["messageAdded", "messageDeleted", "labelAdded", "labelRemoved"]
LabelFilterBehavior = Literal["include", "exclude"]
EnablementState = Literal["enabled", "disabled"]
