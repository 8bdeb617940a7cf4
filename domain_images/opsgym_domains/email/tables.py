"""The 26 tables of email.

Invariant: names, columns and their order are the published ones, so that published seeds and queries fit. References
are real foreign keys; what belongs to a message goes with it. Keys are UUIDs except in `message_labels`. System labels
are rows like all others: their id is not their name. Columns of lists and objects hold JSON text.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import JSON, ForeignKey, Index, Integer, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from opsgym_domains.email import enums
from opsgym_domains.email.words import FUNCTIONS
from opsgym_domains.kit.schema import Kind, Row, new_metadata, says, varchar


class EmailRow(Row):
    """Base class of the domain's rows."""

    __abstract__ = True
    metadata = new_metadata(functions=FUNCTIONS)
    created: ClassVar[str | None] = "created_at"
    updated: ClassVar[str | None] = "updated_at"
    newest_first = no_op_is_refused = blank_is_null = False
    has_uuid = True


METADATA = EmailRow.metadata


class AuditedRow(EmailRow):
    """A row that names the user who made it."""

    __abstract__ = True
    actor = "created_by"


def _ref(target: str, *, cascade: bool = True) -> Any:
    return mapped_column(Text(), ForeignKey(target, ondelete="CASCADE" if cascade else None))


def _one_of(enumeration: Any, words: str) -> Any:
    """A text column whose values are those of an enumeration."""
    return says(words, varchar(40), choices=enumeration)


Key = Annotated[str, mapped_column(Text(), primary_key=True)]
RowNumber = Annotated[int, mapped_column(Integer, primary_key=True, autoincrement=False)]
Json = Annotated[str, mapped_column(Text().with_variant(JSON(), "sqlite"))]
"""A list or an object as JSON text."""
UserRef = Annotated[str, _ref("users.id", cascade=False)]
ThreadRef = Annotated[str, _ref("threads.id")]
MessageRef = Annotated[str, _ref("messages.id")]
PartRef = Annotated[str, _ref("message_parts.id")]
AttachmentRef = Annotated[str, _ref("attachments.id")]
LabelRef = Annotated[str, _ref("labels.id")]
AliasRef = Annotated[str, _ref("send_as_aliases.id")]
KeyPairRef = Annotated[str, _ref("cse_key_pairs.id")]


# --- users and their settings ----------------------------------------------------------------------------------------


class User(AuditedRow):
    """A user with a mailbox."""

    __tablename__ = "users"
    label = "user"
    kinds = {"name": Kind.PERSON, "primary_email": Kind.ADDRESS}

    id: Mapped[Key]
    token: Mapped[str | None]
    primary_email: Mapped[str]
    name: Mapped[str | None]
    messages_total: Mapped[int | None]
    threads_total: Mapped[int | None]
    history_id_current: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class VacationSettings(AuditedRow):
    """The automatic reply of a user."""

    __tablename__ = "vacation_settings"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    enable_auto_reply: Mapped[bool | None] = says("Whether messages are answered automatically")
    response_subject: Mapped[str | None] = says("Text before the subject of the answer")
    response_body_plain_text: Mapped[str | None] = says("Text of the answer")
    response_body_html: Mapped[str | None] = says("Text of the answer as HTML, which takes precedence")
    restrict_to_contacts: Mapped[bool | None] = says("Whether only known senders get an answer")
    restrict_to_domain: Mapped[bool | None] = says("Whether only senders of the user's own domain get an answer")
    start_time: Mapped[datetime | None] = says("Time from which on answers are sent")
    end_time: Mapped[datetime | None] = says("Time until which answers are sent")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class PopSettings(AuditedRow):
    """Access to a mailbox by POP."""

    __tablename__ = "pop_settings"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    access_window: Mapped[str | None] = _one_of(enums.AccessWindow, "Messages that can be read by POP")
    disposition: Mapped[str | None] = _one_of(enums.Disposition, "What happens to a message after it was read by POP")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class LanguageSettings(AuditedRow):
    """The language of a user."""

    __tablename__ = "language_settings"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    display_language: Mapped[str | None] = says("Language as a BCP 47 tag, for instance en-GB")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Label(AuditedRow):
    """A label of a mailbox: a system label such as INBOX, or one of the user's own."""

    __tablename__ = "labels"
    label = "label"
    defaults = {"message_list_visibility": "show", "label_list_visibility": "labelShow", "type": "user"}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    name: Mapped[str] = says("Name of the label")
    message_list_visibility: Mapped[str | None] = _one_of(
        enums.MessageListVisibility, "Whether the list of messages shows the label"
    )
    label_list_visibility: Mapped[str | None] = _one_of(
        enums.LabelListVisibility, "Whether the list of labels shows the label"
    )
    type: Mapped[str | None] = _one_of(enums.LabelType, "Type of the label")
    messages_total: Mapped[int | None]
    messages_unread: Mapped[int | None]
    threads_total: Mapped[int | None]
    threads_unread: Mapped[int | None]
    color_json: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Delegate(AuditedRow):
    """A user who may act in the mailbox of another one."""

    __tablename__ = "delegates"
    label = "delegate"
    kinds = {"delegate_email": Kind.EMAIL}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    delegate_email: Mapped[str] = says("Email address of the delegate")
    verification_status: Mapped[str | None] = _one_of(enums.VerificationStatus, "Status of the verification")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class AutoForwarding(AuditedRow):
    """Whether and to where new messages of a user are forwarded."""

    __tablename__ = "auto_forwarding"
    kinds = {"email_address": Kind.EMAIL}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    enabled: Mapped[bool | None] = says("Whether new messages are forwarded")
    email_address: Mapped[str | None] = says("Verified forwarding address that gets the messages")
    disposition: Mapped[str | None] = _one_of(enums.Disposition, "What happens to a message that was forwarded")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class ImapSettings(AuditedRow):
    """Access to a mailbox by IMAP."""

    __tablename__ = "imap_settings"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    enabled: Mapped[bool | None] = says("Whether the mailbox can be read by IMAP")
    auto_expunge: Mapped[bool | None] = says("Whether messages that IMAP marks as deleted are expunged at once")
    expunge_behavior: Mapped[str | None] = _one_of(enums.ExpungeBehavior, "What happens to an expunged message")
    max_folder_size: Mapped[int | None] = says("Maximum number of messages of an IMAP folder; 0 for no maximum")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Profile(AuditedRow):
    """A named profile of a user, which no tool shows."""

    __tablename__ = "profiles"
    label = "profile"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    name: Mapped[str | None]
    active: Mapped[bool | None]
    is_default: Mapped[bool | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


# --- messages --------------------------------------------------------------------------------------------------------


class Thread(AuditedRow):
    """A conversation: messages of one mailbox that answer each other."""

    __tablename__ = "threads"
    label = "thread"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    snippet: Mapped[str | None]
    history_id_last: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Message(AuditedRow):
    """A message in a mailbox; headers and bodies are in its parts."""

    __tablename__ = "messages"
    label = "message"
    kinds = {"internal_date_ms": Kind.MOMENT}
    __table_args__ = (
        Index("ix_messages_mailbox", "user_id", "internal_date_ms"),
        Index("ix_messages_thread", "thread_id"),
    )

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    thread_id: Mapped[ThreadRef | None]
    snippet: Mapped[str | None]
    history_id_last: Mapped[str | None]
    internal_date_ms: Mapped[str | None]
    size_estimate: Mapped[int | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Attachment(EmailRow):
    """A file that is attached to a message."""

    __tablename__ = "attachments"
    label = "attachment"
    __table_args__ = (Index("ix_attachments_message", "message_id"),)

    id: Mapped[Key]
    message_id: Mapped[MessageRef]
    user_id: Mapped[UserRef]
    filename: Mapped[str | None]
    mime_type: Mapped[str | None]
    size: Mapped[int | None]
    part_id: Mapped[PartRef | None]
    data: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class MessagePart(AuditedRow):
    """A MIME part of a message: the text, or an attachment."""

    __tablename__ = "message_parts"
    label = "message part"
    __table_args__ = (Index("ix_message_parts_message", "message_id"),)

    id: Mapped[Key]
    message_id: Mapped[MessageRef]
    parent_part_id: Mapped[PartRef | None]
    part_id: Mapped[str | None]
    mime_type: Mapped[str | None]
    filename: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class MessageHeader(AuditedRow):
    """A header of a message part."""

    __tablename__ = "message_headers"
    label = "message header"
    __table_args__ = (
        Index("ix_message_headers_part", "message_part_id"),
        Index("ix_message_headers_words", text("email_words(value)"), postgresql_using="gin"),
    )

    id: Mapped[Key]
    message_part_id: Mapped[PartRef]
    name: Mapped[str]
    value: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class MessagePartBody(AuditedRow):
    """The body of a message part: text, in base64url or as it is, or the reference to an attachment."""

    __tablename__ = "message_part_bodies"
    label = "message part body"
    __table_args__ = (
        Index("ix_message_part_bodies_part", "message_part_id"),
        Index("ix_message_part_bodies_words", text("email_words(email_text(data, size))"), postgresql_using="gin"),
    )

    id: Mapped[Key]
    message_part_id: Mapped[PartRef]
    size: Mapped[int | None]
    data: Mapped[str | None]
    attachment_id: Mapped[AttachmentRef | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class MessageLabel(EmailRow):
    """A label that a message has."""

    __tablename__ = "message_labels"
    label = "label of a message"
    __table_args__ = (Index("ix_message_labels_message", "message_id"), Index("ix_message_labels_label", "label_id"))
    created, updated, has_uuid = None, None, False

    id: Mapped[RowNumber]
    message_id: Mapped[MessageRef]
    label_id: Mapped[LabelRef]


class Draft(AuditedRow):
    """A message that has not been sent."""

    __tablename__ = "drafts"
    label = "draft"

    id: Mapped[Key]
    message_id: Mapped[MessageRef]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class HistoryEvent(AuditedRow):
    """A change of a mailbox."""

    __tablename__ = "history_events"
    label = "history event"
    __table_args__ = (Index("ix_history_events_mailbox", "user_id", "event_timestamp"),)

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    history_id: Mapped[str]
    event_type: Mapped[str] = _one_of(enums.HistoryType, "Type of the change")
    event_timestamp: Mapped[str | None]
    event_data: Mapped[Json | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


# --- addresses, filters, keys ----------------------------------------------------------------------------------------


class SendAsAlias(EmailRow):
    """An address from which a user sends: the primary one, or an alias."""

    __tablename__ = "send_as_aliases"
    label = "send-as alias"
    kinds = {"send_as_email": Kind.EMAIL, "reply_to_address": Kind.EMAIL, "display_name": Kind.FULL_NAME}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    send_as_email: Mapped[str] = says("Address in the From header")
    display_name: Mapped[str | None] = says("Name in the From header")
    reply_to_address: Mapped[str | None] = says("Address in the Reply-To header")
    signature: Mapped[str | None] = says("Signature as HTML, at the end of new messages")
    is_primary: Mapped[bool | None]
    is_default: Mapped[bool | None] = says("Whether messages are sent from this address by default")
    treat_as_alias: Mapped[bool | None] = says("Whether the address counts as the user's own")
    smtp_msa: Mapped[Json | None]
    verification_status: Mapped[str | None] = _one_of(enums.VerificationStatus, "Status of the verification")
    verification_token: Mapped[str | None]
    verification_token_expires: Mapped[datetime | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class SmimeInfo(EmailRow):
    """An S/MIME certificate of a send-as alias."""

    __tablename__ = "smime_info"
    label = "S/MIME config"

    id: Mapped[Key]
    send_as_alias_id: Mapped[AliasRef]
    user_id: Mapped[UserRef]
    send_as_email: Mapped[str | None]
    issuer_cn: Mapped[str | None] = says("Common name of the certificate's issuer")
    is_default: Mapped[bool | None] = says("Whether the certificate is the alias' default")
    expiration: Mapped[str | None] = says("End of the certificate's validity, in milliseconds since 1970")
    encrypted_key_password: Mapped[str | None] = says("Password of the key")
    pem: Mapped[str | None] = says("Certificate chain as PEM")
    pkcs12: Mapped[str | None] = says("Key and certificate chain as PKCS#12 in base64")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class WatchSubscription(AuditedRow):
    """A subscription to changes of a mailbox."""

    __tablename__ = "watch_subscriptions"
    label = "watch"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    topic_name: Mapped[str | None]
    label_ids: Mapped[Json | None]
    label_filter_behavior: Mapped[str | None] = _one_of(
        enums.LabelFilterBehavior, "Whether the labels are those to report, or those to leave out"
    )
    history_id: Mapped[str | None]
    expiration: Mapped[str | None]
    is_active: Mapped[bool | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class Filter(EmailRow):
    """What happens to new messages that meet some criteria."""

    __tablename__ = "filters"
    label = "filter"
    actor = "created_by"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    criteria_json: Mapped[Json | None]
    action_json: Mapped[Json | None]
    created_by: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class ForwardingAddress(EmailRow):
    """An address to which a user's messages may be forwarded."""

    __tablename__ = "forwarding_addresses"
    label = "forwarding address"
    kinds = {"forwarding_email": Kind.EMAIL}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    forwarding_email: Mapped[str] = says("Address to which messages may be forwarded")
    verification_status: Mapped[str | None] = _one_of(enums.VerificationStatus, "Status of the verification")
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]


class CseKeyPair(AuditedRow):
    """A key pair of client-side encryption."""

    __tablename__ = "cse_key_pairs"
    label = "key pair"

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    key_pair_id: Mapped[str]
    pkcs7: Mapped[str | None] = says("Public key and its certificate chain as PKCS#7, in PEM")
    pem: Mapped[str | None]
    subject_email_addresses: Mapped[str | None]
    enablement_state: Mapped[str | None] = _one_of(enums.EnablementState, "Whether the key pair is used")
    disable_time: Mapped[datetime | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class CsePrivateKeyMetadata(AuditedRow):
    """Where the private key of a key pair is."""

    __tablename__ = "cse_private_key_metadata"
    label = "private key metadata"

    id: Mapped[Key]
    private_key_metadata_id: Mapped[str | None]
    key_pair_id: Mapped[KeyPairRef]
    metadata_type: Mapped[str | None]
    kacls_uri: Mapped[str | None]
    kacls_data: Mapped[str | None]
    hardware_description: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]


class CseIdentity(AuditedRow):
    """An address that sends encrypted messages, and its key pairs."""

    __tablename__ = "cse_identities"
    label = "CSE identity"
    kinds = {"email_address": Kind.EMAIL}

    id: Mapped[Key]
    user_id: Mapped[UserRef]
    email_address: Mapped[str]
    primary_key_pair_id: Mapped[str | None]
    signing_key_pair_id: Mapped[str | None]
    encryption_key_pair_id: Mapped[str | None]
    created_at: Mapped[datetime | None]
    updated_at: Mapped[datetime | None]
    created_by: Mapped[str | None]
    updated_by: Mapped[str | None]
