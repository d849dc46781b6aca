//! The settings of notifications.

use super::{DayTime, NotificationKind, QuietHours, Zone};

/// Who hears what, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct NotifyRules {
    /// The kinds to send.
    pub on: Vec<NotificationKind>,
    /// The channels. Without one, nothing is sent.
    pub channels: Vec<String>,
    /// When people are left alone.
    pub quiet: Option<QuietHours>,
    /// The kinds that are sent all the same.
    pub urgent: Vec<NotificationKind>,
    /// The time zone of quiet hours and the report.
    pub zone: Zone,
    /// How long to wait for an answer before a reminder.
    pub remind_ms: Option<i64>,
    /// The most reminders of one question.
    pub reminders: u32,
    /// A run that succeeds sooner is not reported.
    pub long_ms: i64,
    /// The address of the dashboard.
    pub link: Option<String>,
    /// When to send the report of the last day.
    pub digest: Option<DayTime>,
    /// The channels of the report, if it has its own.
    pub digest_channels: Vec<String>,
}

impl Default for NotifyRules {
    fn default() -> Self {
        Self {
            on: NotificationKind::ALL.to_vec(),
            channels: Vec::new(),
            quiet: None,
            urgent: Vec::new(),
            zone: Zone::utc(),
            remind_ms: None,
            reminders: 3,
            long_ms: 10 * 60_000,
            link: None,
            digest: None,
            digest_channels: Vec::new(),
        }
    }
}

impl NotifyRules {
    /// Whether nothing is ever sent.
    pub fn is_off(&self) -> bool {
        let reports = self.digest.is_some() && !self.report_channels().is_empty();
        (self.channels.is_empty() || self.on.is_empty()) && !reports
    }

    /// The channels of the report.
    pub fn report_channels(&self) -> &[String] {
        if self.digest_channels.is_empty() { &self.channels } else { &self.digest_channels }
    }
}
