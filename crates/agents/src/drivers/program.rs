//! Where the program of an agent is, and which version.
//!
//! What npm puts into `.bin` is often a launcher in JavaScript that starts the real program as its child: signals
//! to the launcher leave that child running. The real one lies in a package for the platform nearby, and is run itself.

use std::path::{Path, PathBuf};

use super::surroundings::Surroundings;
use super::version::{self, Version};
use crate::contract::{Found, Missing, Setup};

/// What is known about a program before it is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    /// Its name in `PATH`, and in the settings.
    pub(super) name: &'static str,
    /// The npm package that brings it.
    pub(super) package: &'static str,
    /// Where the real program lies below `node_modules`, with `{os}`, `{arch}` and `{triple}`.
    pub(super) native: &'static [&'static str],
    /// The oldest version whose flags and stream are as this driver expects them.
    pub(super) floor: Version,
}

/// A program that is there.
#[derive(Debug)]
struct Located {
    path: PathBuf,
    version: Version,
}

impl Program {
    /// The agent that it is, if it is there; `is_logged_in` looks for a login of its own.
    pub(super) fn find(
        &self,
        setup: &Setup,
        is_logged_in: impl FnOnce(&Surroundings<'_>) -> bool,
    ) -> Result<Found, Missing> {
        let Located { path, version } = self.locate(setup)?;
        let logged_in = is_logged_in(&Surroundings::of(setup));
        Ok(Found { program: path, version: version.to_string(), logged_in })
    }

    /// Finds it and asks for its version.
    fn locate(&self, setup: &Setup) -> Result<Located, Missing> {
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

    fn named(&self, setup: &Setup, around: &Surroundings<'_>) -> Result<PathBuf, Missing> {
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

    /// The real program behind a launcher, or the program by the name that it was found by: some go by their name.
    fn native(&self, path: &Path) -> PathBuf {
        let real = path.canonicalize().unwrap_or_default();
        let candidates = real.ancestors().skip(1).flat_map(|folder| {
            let modules =
                if folder.ends_with("node_modules") { folder.to_owned() } else { folder.join("node_modules") };
            self.native.iter().map(move |relative| modules.join(for_this_platform(relative)))
        });
        candidates.into_iter().find(|candidate| is_program(candidate)).unwrap_or_else(|| path.to_owned())
    }

    fn absent(&self) -> Missing {
        Missing { what: format!("`{}` is not in PATH", self.name), remedy: self.install() }
    }

    fn not_there(&self, program: &Path) -> Missing {
        let what = format!("the program of `{}` is set to `{}`, which cannot be run", self.name, program.display());
        Missing { what, remedy: format!("correct `agents.{}.program` in the settings", self.name) }
    }

    fn broken(&self, path: &Path, why: &str) -> Missing {
        Missing { what: format!("`{}` does not work: {why}", path.display()), remedy: self.install() }
    }

    fn too_old(&self, path: &Path, version: Version) -> Missing {
        let what = format!(
            "`{}` is version {version}, and {} is the oldest that is known to work",
            path.display(),
            self.floor
        );
        Missing { what, remedy: format!("update it with `npm install -g {}@latest`", self.package) }
    }

    fn install(&self) -> String {
        let Self { name, package, .. } = self;
        format!("install it with `npm install -g {package}`, or set `agents.{name}.program` in the settings")
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

/// Whether a file can be run by somebody.
pub(super) fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
