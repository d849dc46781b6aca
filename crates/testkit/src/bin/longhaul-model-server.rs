//! Runs the scripted model endpoint as a program, to try an agent by hand.
//!
//! `longhaul-model-server SCRIPT [PORT]` serves the script on 127.0.0.1 and prints the address. `GET /_log` shows the
//! requests, `POST /_script` sets another script.

use std::io::Write as _;
use std::process::ExitCode;

use longhaul_testkit::model_server::{EndpointScript, serve};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // a closed stderr leaves nothing to do
            let _ = writeln!(std::io::stderr(), "longhaul-model-server: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let (file, port) = match args {
        [file] => (file, 0),
        [file, port] => (file, port.parse()?),
        _ => return Err("say which script: longhaul-model-server SCRIPT [PORT]".into()),
    };
    let script: EndpointScript = std::fs::read_to_string(file)?.parse()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(serve(script, port, true, |address| {
        // a closed stdout does not matter; the endpoint still works
        let _ = writeln!(std::io::stdout(), "http://{address}");
    }))?;
    Ok(())
}
