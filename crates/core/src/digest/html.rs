//! The report as one page, without scripts and without anything from elsewhere.

use super::sections::{Entry, Sections};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;\
color:#1a1a1a;background:#fff}h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:1.6rem}li{margin:.6rem 0;\
overflow-wrap:anywhere}p.line{margin:0;color:#555}code{background:#f0f0f0;padding:.1rem .3rem;border-radius:3px}\
@media(prefers-color-scheme:dark){body{color:#eee;background:#151515}p.line{color:#aaa}code{background:#2a2a2a}}";

pub(super) fn render(report: &Sections) -> String {
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p>{1}</p>\n",
        escaped(&report.title),
        escaped(&report.headline)
    );
    for section in &report.sections {
        page.push_str(&format!("<h2>{}</h2>\n<ul>\n", escaped(&section.title)));
        section.entries.iter().for_each(|entry| add(&mut page, entry));
        if section.more > 0 {
            page.push_str(&format!("<li>and {} more</li>\n", section.more));
        }
        page.push_str("</ul>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn add(page: &mut String, entry: &Entry) {
    page.push_str(&format!("<li>{}", escaped(&entry.head)));
    entry.lines.iter().for_each(|line| page.push_str(&format!("<p class=\"line\">{}</p>", escaped(line))));
    if let Some(command) = &entry.command {
        page.push_str(&format!("<p><code>{}</code></p>", escaped(command)));
    }
    page.push_str("</li>\n");
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}
