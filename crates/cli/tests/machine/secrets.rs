//! Tests forty secrets through every input: none is found in anything that is stored or shown.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;

use crate::binary::project::{Project, RUN};
use crate::binary::told;
use crate::machine::server::Server;

/// The number of variables with secrets that workflows name.
const NAMED: usize = 26;
/// Variables with keys of agents, of channels and of tool servers.
const OTHERS: [&str; 14] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
    "CODEX_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "GITHUB_TOKEN",
    "KEY_OF_MINE",
    "KEPT_TOKEN",
    "HOOK",
    "SLACK",
    "SMTP_PASSWORD",
    "TOOL_TOKEN",
];

/// Of each three, one that every encoding leaves unchanged, one that most change, and one that is not ASCII.
fn secret(number: usize) -> String {
    match number % 3 {
        0 => format!("canary{number:02}Xq7"),
        1 => format!("can ary/{number:02}+\"x&y%=@"),
        _ => format!("canär:{number:02}\\?é"),
    }
}

fn all() -> Vec<(String, String)> {
    let named = (0..NAMED).map(|number| (format!("LONGHAUL_SECRET_S{number:02}"), secret(number)));
    let others = OTHERS.iter().enumerate().map(|(at, name)| ((*name).to_owned(), secret(NAMED + at)));
    let mut all: Vec<_> = named.chain(others).collect();
    // The address of a hook is its key. No server answers there.
    for (name, value) in &mut all {
        if name == "HOOK" || name == "SLACK" {
            *value = format!("http://127.0.0.1:9/hook/{}", &value.replace(['"', ' ', '\\'], "-"));
        }
    }
    all
}

const SETTINGS: &str = r#"
[agents.mine]
backend = "anthropic"
key_env = "KEY_OF_MINE"
keep_env = ["KEPT_TOKEN"]

[channels.hook]
kind = "webhook"
url = { env = "HOOK" }

[channels.slacking]
kind = "slack"
url = { env = "SLACK" }

[channels.letter]
kind = "email"
from = "a@example.com"
to = "b@example.com"
smtp = "127.0.0.1:9"
tls = "tls"
user = "me"
password = { env = "SMTP_PASSWORD" }

[channels.program]
kind = "command"
command = ["python3", "forms.py"]
"#;

/// Every secret, in every form, on both outputs; and in pieces.
const FORMS: &str = r#"
import base64, json, os, sys, time, urllib.parse
names = [n for n in os.environ if n.startswith("LONGHAUL_SECRET_")] + os.environ["OTHERS"].split(",")
for name in names:
    value = os.environ[name]
    data = value.encode()
    forms = [
        value, value.upper().lower() if value.islower() else value,
        urllib.parse.quote(value), urllib.parse.quote(value, safe=""), urllib.parse.quote_plus(value),
        json.dumps(value), json.dumps(value, ensure_ascii=False), data.hex(), data.hex().upper(),
    ] + [base64.b64encode(before + data).decode() for before in (b"", b"u:", b"me:", b"user:")] + [base64.urlsafe_b64encode(data).decode()]
    for out in (sys.stdout, sys.stderr):
        out.write(f"{name} " + " ".join(forms) + "\n")
    sys.stdout.flush()
    half = len(value) // 2
    os.write(1, value[:half].encode())
    time.sleep(0.001)
    os.write(1, value[half:].encode() + b"\n")
"#;

fn workflow(near: &Server, far: &Server) -> String {
    let (near, far) = (near.address, far.address);
    format!(
        r#"
name: w
do:
  - {{id: prints, run: 'python3 forms.py', output: printed}}
  - {{id: parses, run: 'python3 -c "import os, json; print(json.dumps({{os.environ[chr(72)+chr(79)+chr(79)+chr(75)]: dict(os.environ)}}))"', output: {{as: parsed, schema: {{}}}}}}
  - {{id: fails, run: 'python3 forms.py >&2; echo "$LONGHAUL_SECRET_S01 $OPENAI_API_KEY" >&2; exit 3', optional: true}}
  - {{id: bound, run: 'echo "$X"; echo {{{{ secrets.S02 }}}}', env: {{X: "{{{{ secrets.S03 }}}}"}}}}
  - id: asks
    http:
      method: POST
      url: "http://{near}/{{{{ secrets.S04 }}}}/x"
      query: {{q: "{{{{ secrets.S05 }}}}"}}
      headers: {{authorization: "Bearer {{{{ secrets.S06 }}}}", x-api-key: "{{{{ secrets.S09 }}}}"}}
      body: {{token: "{{{{ secrets.S07 }}}}", also: "{{{{ secrets.S08 }}}}"}}
    output: said
  - id: goes
    http:
      url: "http://{near}/away?s={{{{ secrets.S10 }}}}&to={far}"
      headers: {{authorization: "Bearer {{{{ secrets.S12 }}}}", x-api-key: "{{{{ secrets.S15 }}}}", cookie: "c={{{{ secrets.S18 }}}}", accept: "text/plain"}}
    output: landed
  - {{id: refused, http: {{url: "http://u:{{{{ secrets.S13 }}}}@127.0.0.1:9/{{{{ secrets.S14 }}}}", query: {{q: "{{{{ secrets.S16 }}}}"}}}}, optional: true}}
  - {{id: unknown, http: {{url: "http://no-such-host.invalid/?q={{{{ secrets.S17 }}}}"}}, optional: true}}
  - {{id: broken, http: {{url: "nonsense://{{{{ secrets.S19 }}}}"}}, optional: true}}
  - {{id: header, http: {{url: "http://{near}/", headers: {{x: "a\n{{{{ secrets.S20 }}}}"}}}}, optional: true}}
  - {{id: hook, notify: hook, text: "{{{{ printed }}}}", optional: true}}
  - {{id: slack, notify: slacking, text: hi, optional: true}}
  - {{id: letter, notify: letter, text: hi, optional: true}}
  - {{id: program, notify: program, text: "{{{{ printed }}}}", optional: true}}
  - {{id: terminal, notify: terminal, text: "{{{{ printed }}}}"}}
  - {{id: tool, tool: hand.env, args: {{name: KEY}}}}
  - {{id: argument, tool: hand.text, args: {{say: "{{{{ secrets.S22 }}}} {{{{ secrets.S23 }}}}"}}}}
  - {{id: prompts, prompt: "Say {{{{ printed }}}}", output: answer}}
outputs: {{printed: printed, parsed: parsed, said: said, landed: landed, answer: answer}}
"#
    )
}

/// The forms in which a secret would be found.
fn needles(secret: &str) -> Vec<String> {
    let percent = |kept: &[u8]| {
        let one = |byte: u8| match byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        secret.bytes().map(one).collect::<String>()
    };
    let every: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(secret).unwrap();
    let core = json[1..json.len() - 1].to_owned();
    vec![
        secret.to_owned(),
        percent(b"-._~"),
        every,
        base64(secret),
        percent(b"/-._~"),
        percent(b"/-._~").to_lowercase(),
        core,
        hex.to_uppercase(),
        hex,
    ]
}

/// Its base64, as far as it does not depend on the text after it.
fn base64(secret: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = secret.bytes().flat_map(|byte| (0..8).rev().map(move |at| (byte >> at) & 1)).collect();
    let digit = |bits: &[u8]| DIGITS[bits.iter().fold(0, |value, bit| value * 2 + usize::from(*bit))];
    bits.chunks_exact(6).map(|bits| char::from(digit(bits))).collect()
}

/// All files below a folder that Longhaul has written.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default()));
        }
    }
}

/// The output of a server with the same secrets: the run, its events, and its metrics. It starts the waiting run, and
/// sends its trace to the collector.
fn served(project: &Project, secrets: &[(String, String)], collector: &Server) -> Vec<(String, Vec<u8>)> {
    let mut command = project.command(&["serve", "--json", "--listen", "127.0.0.1:0"]);
    command.envs(secrets.iter().map(|(name, value)| (name, value))).env("OTHERS", OTHERS.join(","));
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{}", collector.address)).env("NO_PROXY", "*");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let said: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = said["url"].as_str().unwrap().strip_prefix("http://").unwrap();
    let token = said["login"].as_str().unwrap().rsplit_once("token=").unwrap().1;
    let run = format!("/api/v1/runs/{RUN}");
    let paths = [run.clone(), format!("{run}/events"), "/api/v1/runs".to_owned(), "/metrics".to_owned()];
    let shown = paths.map(|path| {
        let answer = get(address, token, &path);
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{path}: {}", String::from_utf8_lossy(&answer));
        (path, answer)
    });
    while !collector.asked().contains("/v1/traces") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    shown.into()
}

fn get(address: &str, token: &str, path: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!("Host: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close");
    write!(stream, "GET {path} HTTP/1.1\r\n{head}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

#[test]
fn forty_secrets_are_in_nothing_that_is_kept_or_shown() {
    let (near, far, collector) = (Server::start(), Server::start(), Server::start());
    let project = Project::new(&workflow(&near, &far));
    std::fs::write(project.path("forms.py"), FORMS).unwrap();
    let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tools/server.py");
    let server =
        format!("[mcp.servers.hand]\ncommand = 'python3'\nargs = ['{tool}']\nenv = {{ KEY = '${{TOOL_TOKEN}}' }}\n");
    project.user_settings(&format!("{SETTINGS}\n{server}"));
    let secrets = all();
    assert_eq!(secrets.len(), 40);
    let called = |args: &[&str]| {
        let mut command = project.command(args);
        command.envs(secrets.iter().map(|(name, value)| (name, value))).env("OTHERS", OTHERS.join(","));
        told(command.output().unwrap())
    };
    let ran = called(&["run", "w.yaml", "--run-id", RUN, "--plain"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let mut seen = vec![("run".to_owned(), format!("{}{}", ran.stdout, ran.stderr).into_bytes())];
    for args in [
        &["status", RUN][..],
        &["status", RUN, "--json"],
        &["events", RUN],
        &["events", RUN, "--json"],
        &["outputs", RUN],
        &["outputs", RUN, "prints"],
        &["logs", RUN],
        &["logs", RUN, "--json"],
        &["export", RUN],
        &["runs", "--json"],
    ] {
        let shown = called(args);
        assert_eq!(shown.code, 0, "{args:?}: {}", shown.stderr);
        seen.push((args.join(" "), format!("{}{}", shown.stdout, shown.stderr).into_bytes()));
    }
    assert_eq!(called(&["run", "w.yaml", "--run-id", "traced", "--queue"]).code, 0);
    seen.extend(served(&project, &secrets, &collector));
    seen.push(("traces".to_owned(), collector.asked().into_bytes()));
    let before = seen.len();
    files(&project.path(".longhaul"), &mut seen);
    files(&project.state(""), &mut seen);
    assert!(seen[before..].iter().any(|(place, _)| place.ends_with("longhaul.db")), "the store is looked at, too");
    let mut leaks = Vec::new();
    for (name, value) in &secrets {
        for needle in needles(value) {
            let is_in = |bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle.as_bytes());
            let found = seen.iter().filter(|(_, bytes)| is_in(bytes));
            leaks.extend(found.map(|(place, _)| format!("{name} as `{needle}` in {place}")));
        }
    }
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    // The requested secrets arrived, and went nowhere else.
    assert!(near.asked().contains(&secret(6)) && near.asked().contains(&secret(18)), "{}", near.asked());
    let landed = far.asked();
    assert!(landed.starts_with("GET /landed ") && landed.contains("text/plain"), "{landed}");
    for (name, value) in &secrets {
        assert!(!landed.contains(value.as_str()), "{name}: {landed}");
    }
    assert!(!landed.to_lowercase().contains("referer"), "{landed}");
}
