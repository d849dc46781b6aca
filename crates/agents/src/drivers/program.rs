//! Finds the program of an agent, and its version.
//!
//! npm often puts a JavaScript launcher into `.bin`, which starts the real program as its child. Signals to the
//! launcher do not reach that child. The real program is in a platform package nearby, so Longhaul runs it directly.

use std::path::{Path, PathBuf};

use super::surroundings::Surroundings;
use super::version::{self, Version};
use crate::contract::{AgentSetup, InstalledAgent, MissingAgent};

/// The known facts about a program before the search.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// Its name in `PATH`, and in the settings.
    pub(super) name: &'static str,
    /// The npm package that contains it.
    pub(super) package: &'static str,
    /// The paths of the real program below `node_modules`, with `{os}`, `{arch}` and `{triple}`.
    pub(super) native: &'static [&'static str],
    /// The version of Node that its current package needs, if it needs one.
    pub(super) node: Option<u32>,
    /// The oldest version with the flags and the stream that this driver expects.
    pub(super) floor: Version,
}

/// A program that was found.
#[derive(Debug)]
struct Located {
    path: PathBuf,
    version: Version,
}

impl Program {
    /// The installed agent; `is_logged_in` looks for its own login.
    pub(super) fn find(
        &self,
        setup: &AgentSetup,
        is_logged_in: impl FnOnce(&Surroundings<'_>) -> bool,
    ) -> Result<InstalledAgent, MissingAgent> {
        let Located { path, version } = self.locate(setup)?;
        let logged_in = is_logged_in(&Surroundings::of(setup));
        Ok(InstalledAgent { program: path, version: version.to_string(), logged_in })
    }

    /// Finds the program and asks for its version.
    fn locate(&self, setup: &AgentSetup) -> Result<Located, MissingAgent> {
        let around = Surroundings::of(setup);
        let path = self.native(&self.named(setup, &around)?);
        let said = version::ask(&path, &around).map_err(|why| self.broken(&path, &why))?;
        let Some(version) = Version::find(&said) else {
            return Err(self.broken(&path, &format!("it answers `--version` with `{}`", said.trim())));
        };
        if version < self.floor {
            return Err(self.too_old(&path, version));
        }
        Ok(Located { path, version })
    }

    fn named(&self, setup: &AgentSetup, around: &Surroundings<'_>) -> Result<PathBuf, MissingAgent> {
        let Some(program) = &setup.program else {
            return around.in_path(self.name).ok_or_else(|| self.absent());
        };
        let found = if program.components().count() > 1 {
            is_program(program).then(|| program.clone())
        } else {
            around.in_path(&program.to_string_lossy())
        };
        found.ok_or_else(|| self.not_there(program))
    }

    /// The real program behind a launcher, else the path unchanged: some programs depend on the name that they are
    /// started by.
    fn native(&self, path: &Path) -> PathBuf {
        let real = path.canonicalize().unwrap_or_default();
        let candidates = real.ancestors().skip(1).flat_map(|folder| {
            let modules =
                if folder.ends_with("node_modules") { folder.to_owned() } else { folder.join("node_modules") };
            self.native.iter().map(move |relative| modules.join(for_this_platform(relative)))
        });
        candidates.into_iter().find(|candidate| is_program(candidate)).unwrap_or_else(|| path.to_owned())
    }

    fn absent(&self) -> MissingAgent {
        MissingAgent { what: format!("`{}` is not in PATH", self.name), remedy: self.install() }
    }

    fn not_there(&self, program: &Path) -> MissingAgent {
        let what = format!("the program of `{}` is set to `{}`, which cannot be run", self.name, program.display());
        MissingAgent { what, remedy: format!("correct `agents.{}.program` in the settings", self.name) }
    }

    fn broken(&self, path: &Path, why: &str) -> MissingAgent {
        MissingAgent { what: format!("`{}` does not work: {why}", path.display()), remedy: self.install() }
    }

    fn too_old(&self, path: &Path, version: Version) -> MissingAgent {
        let what = format!(
            "`{}` is version {version}, and {} is the oldest that is known to work",
            path.display(),
            self.floor
        );
        let remedy = format!("update it with `npm install -g {}@latest`{}", self.package, self.node());
        MissingAgent { what, remedy }
    }

    fn install(&self) -> String {
        let Self { name, package, .. } = self;
        let node = self.node();
        format!("install it with `npm install -g {package}`{node}, or set `agents.{name}.program` in the settings")
    }

    /// With an older Node, npm installs an older release, or the program does not start.
    fn node(&self) -> String {
        self.node.map(|major| format!(" with Node {major} or newer")).unwrap_or_default()
    }
}

fn for_this_platform(relative: &str) -> String {
    let (os, system) = match std::env::consts::OS {
        "macos" => ("darwin", "apple-darwin"),
        other => (other, "unknown-linux-musl"),
    };
    let (arch, machine) = match std::env::consts::ARCH {
        "x86_64" => ("x64", "x86_64"),
        "aarch64" => ("arm64", "aarch64"),
        other => (other, other),
    };
    relative.replace("{os}", os).replace("{arch}", arch).replace("{triple}", &format!("{machine}-{system}"))
}

/// Whether a file is executable.
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
