//! Reads text that is almost JSON: trailing commas, comments, single and typographic quotes, bare keys, Python's words,
//! and braces that are missing at the very end.

use longhaul_core::Json;
use serde_json::Map;

const DEPTH_MAX: usize = 64;
const STRAY_MAX: usize = 200;

/// Every object and list in a text that can be read in this way, in order.
pub(super) fn values(text: &str) -> Vec<Json> {
    let mut out = Vec::new();
    let (mut at, mut stray) = (0, 0);
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        let mut reader = Reader { text: &text[start..], at: 0, depth: 0 };
        match reader.value() {
            Some(value) => {
                out.push(value);
                at = start + reader.at.max(1);
            }
            None => {
                stray += 1;
                at = start + 1;
            }
        }
        if stray > STRAY_MAX {
            break;
        }
    }
    out
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn value(&mut self) -> Option<Json> {
        self.blank();
        match self.rest().chars().next()? {
            '{' => self.deeper(Self::object),
            '[' => self.deeper(Self::list),
            quote if closes(quote).is_some() => self.string().map(Json::String),
            _ => self.word(),
        }
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Option<Json>) -> Option<Json> {
        self.depth += 1;
        self.at += 1;
        let found = if self.depth > DEPTH_MAX { None } else { read(self) };
        self.depth -= 1;
        found
    }

    fn object(&mut self) -> Option<Json> {
        let mut fields = Map::new();
        while !self.ends('}') {
            let key = self.key()?;
            self.blank();
            self.eat(':').then_some(())?;
            fields.insert(key, self.value()?);
            self.separator('}')?;
        }
        Some(Json::Object(fields))
    }

    fn list(&mut self) -> Option<Json> {
        let mut items = Vec::new();
        while !self.ends(']') {
            items.push(self.value()?);
            self.separator(']')?;
        }
        Some(Json::Array(items))
    }

    /// Whether the bracket closes here, or the text ends.
    fn ends(&mut self, bracket: char) -> bool {
        self.blank();
        self.eat(bracket) || self.over()
    }

    /// Whether the text ends here; a fence after the last value ends it too.
    fn over(&self) -> bool {
        let rest = self.rest().trim_start();
        rest.is_empty() || rest.starts_with("```")
    }

    /// A comma, or the end of the bracket.
    fn separator(&mut self, bracket: char) -> Option<()> {
        self.blank();
        let more = self.eat(',');
        (more || self.rest().starts_with(bracket) || self.over()).then_some(())
    }

    fn key(&mut self) -> Option<String> {
        if self.rest().starts_with(|next| closes(next).is_some()) {
            return self.string();
        }
        let bare = |next: char| next.is_alphanumeric() || next == '_' || next == '-' || next == '$';
        let key: String = self.rest().chars().take_while(|next| bare(*next)).collect();
        self.at += key.len();
        (!key.is_empty()).then_some(key)
    }

    /// Accepts raw line breaks. A string without a closing quote is not a string.
    fn string(&mut self) -> Option<String> {
        let open = self.rest().chars().next()?;
        let ends = closes(open)?;
        self.at += open.len_utf8();
        let mut out = String::new();
        loop {
            let next = self.rest().chars().next()?;
            self.at += next.len_utf8();
            match next {
                '\\' => self.escape(&mut out)?,
                end if ends.contains(end) => return Some(out),
                other => out.push(other),
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Option<()> {
        let next = self.rest().chars().next()?;
        self.at += next.len_utf8();
        match next {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => out.push(self.unicode()?),
            '\n' => {}
            other => out.push(other),
        }
        Some(())
    }

    fn unicode(&mut self) -> Option<char> {
        let code = |text: &str| u32::from_str_radix(text.get(..4)?, 16).ok();
        let first = code(self.rest())?;
        self.at += 4;
        let second = self.rest().strip_prefix("\\u").and_then(code).filter(|low| (0xdc00..0xe000).contains(low));
        match second {
            Some(low) if (0xd800..0xdc00).contains(&first) => {
                self.at += 6;
                char::from_u32(0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00))
            }
            _ => char::from_u32(first),
        }
    }

    /// A number, or one of the words of JSON, JavaScript and Python. Other words give nothing.
    fn word(&mut self) -> Option<Json> {
        let part = |next: char| next.is_alphanumeric() || matches!(next, '.' | '-' | '+' | '_');
        let word: String = self.rest().chars().take_while(|next| part(*next)).collect();
        self.at += word.len();
        match word.as_str() {
            "true" | "True" => Some(Json::Bool(true)),
            "false" | "False" => Some(Json::Bool(false)),
            "null" | "None" | "undefined" | "NaN" | "Infinity" | "-Infinity" => Some(Json::Null),
            number => serde_json::from_str(number.trim_start_matches('+')).ok().filter(Json::is_number),
        }
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// Steps over space and comments.
    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let space = rest.len() - rest.trim_start().len();
            let rest = &rest[space..];
            let comment = if rest.starts_with("//") || rest.starts_with('#') {
                rest.find('\n').unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                0
            };
            self.at += space + comment;
            if comment == 0 {
                return;
            }
        }
    }
}

/// The quotes that close this opening one.
fn closes(open: char) -> Option<&'static str> {
    match open {
        '"' => Some("\""),
        '\'' => Some("'"),
        '“' | '”' | '„' => Some("”“"),
        '‘' | '’' => Some("’‘"),
        _ => None,
    }
}
