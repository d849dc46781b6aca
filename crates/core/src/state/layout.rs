//! The version of a snapshot's layout. A program does not read a snapshot with another layout.

/// Raise it whenever a field or variant is added to what a state holds: a snapshot of before would read it as nothing, although
/// the events know it.
pub const LAYOUT: u32 = 5;

#[cfg(test)]
mod tests {
    use super::LAYOUT;

    /// The files that say what a state holds.
    const SOURCES: [&str; 15] = [
        include_str!("../state.rs"),
        include_str!("agenda.rs"),
        include_str!("budget.rs"),
        include_str!("hints.rs"),
        include_str!("hosted.rs"),
        include_str!("phase.rs"),
        include_str!("placement.rs"),
        include_str!("step.rs"),
        include_str!("../recovery.rs"),
        include_str!("../event/attempt.rs"),
        include_str!("../event/context.rs"),
        include_str!("../event/run.rs"),
        include_str!("../event/step.rs"),
        include_str!("../event/question.rs"),
        include_str!("../event/replace.rs"),
    ];

    /// A line that declares a field or a variant.
    fn declares(line: &str) -> bool {
        let (Some(rest), true) = (line.strip_prefix("    "), line.ends_with(',')) else { return false };
        let rest = rest.strip_prefix("pub(crate) ").or(rest.strip_prefix("pub(super) ")).unwrap_or(rest);
        let rest = rest.strip_prefix("pub ").unwrap_or(rest);
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let after = &rest[name.len()..];
        let is_variant = name.starts_with(char::is_uppercase) && (after == "," || after.starts_with(['(', '{', ' ']));
        !name.is_empty() && (after.starts_with(": ") || is_variant)
    }

    /// FNV-1a: any hash will do.
    fn hash(text: &str) -> u64 {
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    #[test]
    fn a_changed_layout_has_a_new_number() {
        let lines: Vec<&str> = SOURCES.iter().flat_map(|source| source.lines()).filter(|line| declares(line)).collect();
        let is_known = (LAYOUT, hash(&lines.join("\n"))) == (5, 0xf68c_0ff8_f545_2554);
        assert!(is_known, "what a state holds has changed: raise LAYOUT and write {:#x} here", hash(&lines.join("\n")));
    }
}
