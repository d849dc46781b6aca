//! Reads server-sent events: bytes in, the data of whole events out.
//!
//! Only `data` is used: every API also names its events inside the data.

/// The largest event.
const EVENT_BYTES_MAX: usize = 64 << 20;

/// Splits a stream into events.
#[derive(Debug, Default)]
pub(super) struct Events {
    rest: Vec<u8>,
    data: String,
}

impl Events {
    /// The events that these bytes complete; `None` if the bytes are not a stream of events.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Option<Vec<String>> {
        self.rest.extend_from_slice(bytes);
        let mut found = Vec::new();
        while let Some(at) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=at).collect();
            found.extend(self.line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r'])));
        }
        (self.rest.len() + self.data.len() <= EVENT_BYTES_MAX).then_some(found)
    }

    /// The last event, if no empty line followed it.
    pub(super) fn finish(mut self) -> Option<String> {
        let rest = std::mem::take(&mut self.rest);
        self.line(String::from_utf8_lossy(&rest).trim_end_matches('\r'));
        self.line("")
    }

    fn line(&mut self, line: &str) -> Option<String> {
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (!data.is_empty()).then_some(data);
        }
        if let Some(data) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = ": hello\nevent: a\ndata: {\"é\":1}\n\ndata: x\r\ndata:y\r\n\r\nid: 3\n\ndata: last";

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found: Vec<String> = pieces.iter().flat_map(|piece| events.push(piece).unwrap()).collect();
        found.extend(events.finish());
        found
    }

    #[test]
    fn data_is_joined_and_the_rest_is_left_out() {
        assert_eq!(events(&[STREAM.as_bytes()]), ["{\"é\":1}", "x\ny", "last"]);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_a_stream_is_cut(cuts in prop::collection::vec(0..STREAM.len(), 0..8)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &STREAM.as_bytes()[cut[0]..cut[1]]).collect();
            prop_assert_eq!(events(&pieces), events(&[STREAM.as_bytes()]));
        }
    }
}
