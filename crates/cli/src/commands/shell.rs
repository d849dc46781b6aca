//! `longhaul completions` and `longhaul man`: what shells and readers of manuals want to know about the commands.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap_complete::Shell;

use crate::{manual, ui};

/// Print completions for a shell
///
/// bash: longhaul completions bash > ~/.local/share/bash-completion/completions/longhaul; zsh: to a file `_longhaul` in a folder of $fpath; fish:
/// to ~/.config/fish/completions/longhaul.fish.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: Shell,
}

/// Write the manual pages, or print all commands as one page of Markdown
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder that the pages go to, such as ~/.local/share/man/man1; without it, Markdown is printed
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut manual::command(), "longhaul", &mut script);
    ui::deliver(&String::from_utf8_lossy(&script), None)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    let Some(folder) = &args.out else {
        ui::deliver(&manual::markdown(), None)?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    clap_mangen::generate_to(manual::command(), folder)
        .with_context(|| format!("the pages cannot be written to {}", folder.display()))?;
    ui::say(format!("the pages are in {}", folder.display()));
    Ok(ExitCode::SUCCESS)
}
