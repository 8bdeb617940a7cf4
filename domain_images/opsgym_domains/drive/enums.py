"""Enumerations that the published schemas do not list. Source: rows of a published seed, and the Drive API."""

from __future__ import annotations

from typing import Literal

GroupRole = Literal["owner", "manager", "member"]
MembershipType = Literal["user", "group", "domain"]
LabelType = Literal["enum", "number", "boolean", "date", "string"]
Storage = Literal["S3", "GCS", "DB"]
UploadState = Literal["initiated", "in_progress", "finalizing", "completed"]
DeliveryStatus = Literal["pending", "delivered", "failed", "retrying"]
ProposalStatus = Literal["pending", "approved", "denied"]
OperationStatus = Literal["running", "done", "error"]
OperationType = Literal["export", "download", "copy", "import", "thumbnail"]
