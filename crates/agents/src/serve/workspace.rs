//! Which files a served agent may touch.
//!
//! **Invariant:** what is opened lies, with every link followed, below one of the roots; a link that is put in the way
//! between looking and opening makes the opening fail. With [`Permission::Full`] there are no roots.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::contract::{Permission, Turn};

/// More than anybody wants to show a model or to replace a line in.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The folders of a turn.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    cwd: PathBuf,
    roots: Vec<PathBuf>,
    permission: Permission,
}

impl Workspace {
    pub(crate) fn new(turn: &Turn) -> Self {
        let cwd = real(&turn.cwd);
        let roots = std::iter::once(cwd.clone()).chain(turn.dirs.iter().map(|dir| real(&cwd.join(dir)))).collect();
        Self { cwd, roots, permission: turn.permission }
    }

    pub(crate) fn cwd(&self) -> &Path {
        &self.cwd
    }

    pub(crate) fn permission(&self) -> Permission {
        self.permission
    }

    /// A path as people and models like to see it.
    pub(crate) fn short<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.cwd).unwrap_or(path)
    }

    /// Where something that exists really is.
    pub(crate) fn existing(&self, path: &str) -> Result<PathBuf, String> {
        let found = fs::canonicalize(self.cwd.join(path)).map_err(|error| told(path, &error))?;
        self.admit(path, found)
    }

    /// Whether something lies, or would lie, where this turn may be.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        let Some(path) = path.to_str() else { return false };
        self.existing(path).or_else(|_| self.place(path)).is_ok()
    }

    /// The whole of a file.
    pub(crate) fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.existing(path)?;
        let mut file = open(&found).map_err(|error| told(path, &error))?;
        let about = file.metadata().map_err(|error| told(path, &error))?;
        if !about.is_file() {
            return Err(format!("`{path}` is not a file"));
        }
        if about.len() > FILE_BYTES_MAX {
            return Err(format!("`{path}` is {} bytes long; look at a part of it with a command", about.len()));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| told(path, &error))?;
        Ok(bytes)
    }

    /// Puts a file in place, as a whole or not at all.
    pub(crate) fn write(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        if self.permission == Permission::ReadOnly {
            return Err(format!("`{path}` cannot be written: this turn may only read"));
        }
        let place = self.place(path)?;
        put(&place, bytes).map_err(|error| told(path, &error))
    }

    /// Where a file is, or will be.
    fn place(&self, path: &str) -> Result<PathBuf, String> {
        let wanted = self.cwd.join(path);
        if wanted.is_dir() {
            return Err(format!("`{path}` is a folder"));
        }
        match fs::canonicalize(&wanted) {
            Ok(found) => self.admit(path, found),
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.new_place(path, &wanted),
            Err(error) => Err(told(path, &error)),
        }
    }

    /// The deepest folder that exists is followed; below it nothing can be a link, so nothing may go back up.
    fn new_place(&self, path: &str, wanted: &Path) -> Result<PathBuf, String> {
        let mut base = wanted.to_owned();
        let mut below = Vec::new();
        loop {
            if base.symlink_metadata().is_ok() {
                break;
            }
            match base.components().next_back() {
                Some(Component::Normal(name)) => below.push(name.to_owned()),
                _ => return Err(format!("`{path}` does not lead to a file")),
            }
            base.pop();
        }
        // A link that leads nowhere is there, and yet cannot be followed.
        let base = fs::canonicalize(&base).map_err(|error| told(path, &error))?;
        let place = below.iter().rev().fold(self.admit(path, base)?, |place, name| place.join(name));
        Ok(place)
    }

    fn admit(&self, path: &str, found: PathBuf) -> Result<PathBuf, String> {
        let is_inside = self.roots.iter().any(|root| found.starts_with(root));
        if is_inside || self.permission == Permission::Full {
            Ok(found)
        } else {
            Err(format!("`{path}` is outside of the workspace"))
        }
    }
}

fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn told(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("there is no `{path}`"),
        _ => format!("`{path}`: {error}"),
    }
}

/// Opens a path that has no links in it, and refuses if it has some by now. A pipe does not hold us up.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match rustix::fs::openat2(rustix::fs::CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(file) => Ok(file.into()),
        // Kernels and sandboxes without this call: the last part at least is no link.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            Ok(rustix::fs::open(path, flags | OFlags::NOFOLLOW, Mode::empty())?.into())
        }
        Err(error) => Err(error.into()),
    }
}

fn put(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (place.parent(), place.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    fs::create_dir_all(folder)?;
    let beside = folder.join(format!(".{}.{}.new", name.to_string_lossy(), std::process::id()));
    let written = fill(&beside, place, bytes).and_then(|()| fs::rename(&beside, place));
    if written.is_err() {
        // It may not even be there.
        drop(fs::remove_file(&beside));
    }
    written
}

fn fill(beside: &Path, place: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(beside)?;
    file.write_all(bytes)?;
    if let Ok(before) = fs::metadata(place) {
        file.set_permissions(before.permissions())?;
    }
    file.sync_data()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Bench {
        folder: tempfile::TempDir,
    }

    impl Bench {
        /// `work` is the workspace, `more` a further folder, `secret` a file beside them.
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("work/sub")).unwrap();
            fs::create_dir(folder.path().join("more")).unwrap();
            fs::write(folder.path().join("secret"), "secret").unwrap();
            fs::write(folder.path().join("work/inside"), "inside").unwrap();
            fs::write(folder.path().join("more/other"), "other").unwrap();
            Self { folder }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn workspace(&self, permission: Permission) -> Workspace {
            let roots = vec![real(&self.path("work")), real(&self.path("more"))];
            Workspace { cwd: roots[0].clone(), roots, permission }
        }

        fn reads(&self, path: &str) -> Result<String, String> {
            self.workspace(Permission::Edit).read(path).map(|bytes| String::from_utf8(bytes).unwrap())
        }

        fn writes(&self, path: &str) -> Result<(), String> {
            self.workspace(Permission::Edit).write(path, b"new")
        }
    }

    #[test]
    fn what_lies_inside_is_read_by_any_name() {
        let bench = Bench::new();
        symlink("inside", bench.path("work/link")).unwrap();
        let absolute = bench.path("work/inside");
        for path in ["inside", "./sub/../inside", "link", absolute.to_str().unwrap()] {
            assert_eq!(bench.reads(path).as_deref(), Ok("inside"), "{path}");
        }
        assert_eq!(bench.reads("../more/other").as_deref(), Ok("other"));
    }

    #[test]
    fn nothing_outside_is_read() {
        let bench = Bench::new();
        symlink(bench.path("secret"), bench.path("work/link")).unwrap();
        symlink(bench.folder.path(), bench.path("work/up")).unwrap();
        let absolute = bench.path("secret");
        for path in ["../secret", "link", "up/secret", "sub/../../secret", absolute.to_str().unwrap(), "/etc/hostname"]
        {
            let said = bench.reads(path).unwrap_err();
            assert_eq!(said, format!("`{path}` is outside of the workspace"));
        }
        assert_eq!(bench.workspace(Permission::Full).read("../secret").unwrap(), b"secret");
    }

    #[test]
    fn nothing_outside_is_written() {
        let bench = Bench::new();
        symlink(bench.path("secret"), bench.path("work/link")).unwrap();
        symlink(bench.path("unborn"), bench.path("work/dangling")).unwrap();
        symlink(bench.folder.path(), bench.path("work/up")).unwrap();
        for path in ["../unborn", "link", "dangling", "up/unborn", "no/../../unborn", "up/deep/er"] {
            assert!(bench.writes(path).is_err(), "{path}");
        }
        assert_eq!(fs::read(bench.path("secret")).unwrap(), b"secret");
        assert!(!bench.path("unborn").exists() && !bench.path("deep").exists());
    }

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_folders_are_made() {
        use std::os::unix::fs::PermissionsExt;
        let bench = Bench::new();
        fs::set_permissions(bench.path("work/inside"), fs::Permissions::from_mode(0o750)).unwrap();
        bench.writes("inside").unwrap();
        bench.writes("a/b/c").unwrap();
        assert_eq!(fs::read(bench.path("work/a/b/c")).unwrap(), b"new");
        let about = fs::metadata(bench.path("work/inside")).unwrap();
        assert_eq!((about.len(), about.permissions().mode() & 0o777), (3, 0o750));
        assert_eq!(fs::read_dir(bench.path("work")).unwrap().count(), 3, "nothing is left beside");
    }

    #[test]
    fn a_reader_writes_nothing() {
        let bench = Bench::new();
        assert!(bench.workspace(Permission::ReadOnly).write("inside", b"new").is_err());
        assert_eq!(bench.reads("inside").as_deref(), Ok("inside"));
    }

    #[test]
    fn a_pipe_or_a_folder_is_no_file() {
        let bench = Bench::new();
        rustix::fs::mknodat(rustix::fs::CWD, bench.path("work/pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0)
            .unwrap();
        assert_eq!(bench.reads("pipe").unwrap_err(), "`pipe` is not a file");
        assert_eq!(bench.reads("sub").unwrap_err(), "`sub` is not a file");
        assert_eq!(bench.writes("sub").unwrap_err(), "`sub` is a folder");
    }
}
