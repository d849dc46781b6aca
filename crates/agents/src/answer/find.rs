//! Finds JSON in a text: in fences, and between matching braces.

use longhaul_core::Json;
use longhaul_core::value;

/// The most failed starts before the search stops: a text full of braces must not take forever.
const STRAY_MAX: usize = 200;

/// Every fence that holds one JSON value, in order.
pub(super) fn fenced(text: &str) -> Vec<Json> {
    fences(text).into_iter().filter_map(|inside| value::read(inside.trim()).ok()).collect()
}

/// The content of each fence, whatever its language.
pub(super) fn fences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut open: Option<(&str, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let mark = line.trim();
        open = match open {
            None => fence_mark(mark).map(|fence| (fence, end)),
            Some((fence, start)) if mark.starts_with(fence) && mark.trim_start_matches(&fence[..1]).is_empty() => {
                out.push(&text[start..at]);
                None
            }
            still => still,
        };
        at = end;
    }
    out
}

fn fence_mark(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|first| *first == '`' || *first == '~')?;
    let length = line.chars().take_while(|next| *next == mark).count();
    (length >= 3).then(|| &line[..length])
}

/// Every object and list that is not inside another one, in order.
pub(super) fn balanced(text: &str) -> Vec<Json> {
    let mut out = Vec::new();
    let (mut at, mut stray) = (0, 0);
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        let parsed = closing(&text[start..]).map(|length| start + length);
        let parsed = parsed.and_then(|end| Some((value::read(&text[start..end]).ok()?, end)));
        at = match parsed {
            Some((value, end)) => {
                out.push(value);
                end
            }
            None => {
                stray += 1;
                start + 1
            }
        };
        if stray > STRAY_MAX {
            break;
        }
    }
    out
}

/// The length of the text from an opening brace to the matching closing one.
pub(super) fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, next) in text.bytes().enumerate() {
        match next {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
