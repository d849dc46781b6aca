//! Tests the answer for each path of a browser, with and without the dashboard.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use longhaul_pages::{BUILT, Page, page};

fn text(page: Page) -> &'static str {
    std::str::from_utf8(page.bytes).unwrap()
}

/// The files that the first page names in `src` and `href`.
fn named() -> Vec<&'static str> {
    let index = text(page("/").unwrap());
    let places = index.split('"').filter(|part| part.starts_with('/'));
    places.collect()
}

#[test]
fn addresses_of_the_dashboard_are_answered_with_its_first_page() {
    let first = page("/").unwrap();
    assert_eq!(first.content_type, "text/html; charset=utf-8");
    assert!(!first.hashed, "the first page is asked for each time");
    for path in ["/runs", "/runs/release-1", "/workflows/review.v2", "/approvals", "/index.html"] {
        assert_eq!(page(path), Some(first), "{path}");
    }
}

#[test]
fn a_file_that_is_not_there_is_not_answered_with_a_page() {
    for path in ["/assets/index-gone.js", "/assets/", "/favicon.ico", "/robots.txt"] {
        assert_eq!(page(path), None, "{path}");
    }
}

#[test]
fn whatever_the_first_page_names_is_there() {
    assert_eq!(named().is_empty(), !BUILT, "the page that stands in names nothing");
    for path in named() {
        let file = page(path).unwrap_or_else(|| panic!("{path} is missing"));
        assert_eq!(file.hashed, path.starts_with("/assets/"), "{path}");
        assert_ne!(file.content_type, "application/octet-stream", "{path}");
    }
}

#[test]
fn nothing_is_inline() {
    let index = text(page("/").unwrap());
    for part in index.split("<script").skip(1) {
        assert!(
            part.split_once('>').unwrap().1.trim_start().starts_with("</script>"),
            "a script inside the page: {part}"
        );
    }
    assert!(!index.contains("<style") && !index.contains(" style="), "{index}");
}

#[test]
fn packed_files_begin_as_gzip_does_and_are_shorter() {
    for path in named() {
        let file = page(path).unwrap();
        let Some(packed) = file.gzip else { continue };
        assert!(packed.starts_with(&[0x1f, 0x8b]) && packed.len() < file.bytes.len(), "{path}");
    }
}

/// The files that a browser loads before anything shows: the first page, and what it names.
#[test]
fn the_first_load_is_below_300_kilobytes() {
    let sizes = named().into_iter().chain(["/"]).map(|path| {
        let file = page(path).unwrap();
        file.gzip.unwrap_or(file.bytes).len()
    });
    let total: usize = sizes.sum();
    assert!(total < 300_000, "{total} bytes");
}

#[test]
fn a_binary_without_the_dashboard_says_how_to_have_it() {
    let first = text(page("/").unwrap());
    assert_eq!(first.contains("cargo build"), !BUILT);
}
