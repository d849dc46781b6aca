//! Lists the forms in which programs write a secret.

/// Of a secret with several lines, each line of at least this length is a secret too.
const LINE_BYTES_MIN: usize = 16;
/// A shorter piece of base64 or hex is not specific enough.
const CODED_BYTES_MIN: usize = 7;

/// The characters that browsers, this program and Python leave unencoded in each part of an address; the last entry is
/// for forms.
const LEFT: [&[u8]; 7] = [
    b"!$%&()*+,-./:;=?@[\\]^_`{|}~",
    b"!$%&'()*+,-./:;=@[\\]_|~",
    b"!$%&'()*+,-._~",
    b"!'()*-._~",
    b"/-._~",
    b"-._~",
    b"*-._",
];

/// Every form of a secret to search for.
pub(super) fn of(secret: &str) -> Vec<String> {
    let lines = secret.lines().map(str::trim).filter(|line| line.len() >= LINE_BYTES_MIN);
    let whole = [secret, secret.trim()];
    let texts = whole.into_iter().chain(lines).filter(|text| !text.is_empty());
    texts.flat_map(|text| std::iter::once(text.to_owned()).chain(written(text))).collect()
}

fn written(text: &str) -> Vec<String> {
    let mut forms = percent(text);
    forms.extend(json(text));
    let coded = base64(text.as_bytes()).into_iter().chain(hex(text.as_bytes()));
    forms.extend(coded.filter(|form| form.len() >= CODED_BYTES_MIN));
    forms
}

fn percent(text: &str) -> Vec<String> {
    let encoded = |left: &[u8], upper: bool| {
        let one = |byte: u8| match byte {
            byte if byte.is_ascii_alphanumeric() || left.contains(&byte) => char::from(byte).to_string(),
            byte if upper => format!("%{byte:02X}"),
            byte => format!("%{byte:02x}"),
        };
        text.bytes().map(one).collect::<String>()
    };
    let mut forms: Vec<String> = LEFT.iter().flat_map(|left| [encoded(left, true), encoded(left, false)]).collect();
    // HTML forms write a space as `+`.
    let plus: Vec<String> = forms.iter().map(|form| form.replace("%20", "+")).collect();
    forms.extend(plus);
    // Some programs encode every character.
    forms.push(text.bytes().map(|byte| format!("%{byte:02X}")).collect());
    forms.push(text.bytes().map(|byte| format!("%{byte:02x}")).collect());
    forms
}

/// The secret as JSON writes it, with and without the optional escapes.
fn json(text: &str) -> Vec<String> {
    let quoted = serde_json::to_string(text).unwrap_or_default();
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let ascii = |text: &str| {
        let one = |c: char| match c {
            c if c.is_ascii() => c.to_string(),
            c => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
        };
        text.chars().map(one).collect::<String>()
    };
    let slashed = inside.replace('/', "\\/");
    vec![inside.to_owned(), ascii(inside), ascii(&slashed), slashed]
}

/// The part of its base64 that does not depend on the text around it, for each possible position.
fn base64(bytes: &[u8]) -> Vec<String> {
    const USUAL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const FOR_ADDRESSES: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let at = |before: usize, alphabet: &[u8; 64]| {
        let (first, last) = ((before * 8).div_ceil(6), (before + bytes.len()) * 8 / 6);
        let bit = |at: usize| (bytes[at / 8 - before] >> (7 - at % 8)) & 1;
        let unit = |unit: usize| (0..6).fold(0, |value, at| (value << 1) | bit(unit * 6 + at));
        (first..last).map(|number| char::from(alphabet[usize::from(unit(number))])).collect::<String>()
    };
    (0..3).flat_map(|before| [at(before, USUAL), at(before, FOR_ADDRESSES)]).collect()
}

fn hex(bytes: &[u8]) -> [String; 2] {
    [bytes.iter().map(|byte| format!("{byte:02x}")).collect(), bytes.iter().map(|byte| format!("{byte:02X}")).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_what_stands_in_longer_texts() {
        // `secret`, `xsecret` and `xxsecret`, as other programs encode them.
        let forms = base64(b"secret");
        assert_eq!(forms[0], "c2VjcmV0");
        assert!("eHNlY3JldA==".contains(&forms[2]), "{forms:?}");
        assert!("eHhzZWNyZXQ=".contains(&forms[4]), "{forms:?}");
    }

    #[test]
    fn a_plain_secret_has_few_forms() {
        let mut forms = of("abcDEF123");
        forms.sort_unstable();
        forms.dedup();
        assert_eq!(forms.len(), 6, "{forms:?}");
    }
}
