//! The token of a client. It is created once, and kept in a file that only its owner can read.
//!
//! **Invariant:** an empty token is not a token. Comparing two tokens takes a time that does not show how much of them
//! is equal.

use std::io::{Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use subtle::ConstantTimeEq;
use uuid::Uuid;

/// The fewest characters of a token. A shorter one is not secret enough.
const CHARS_MIN: usize = 32;

/// A token.
pub struct Token {
    text: String,
    file: PathBuf,
    /// Whether it was just created.
    pub is_new: bool,
}

impl Token {
    /// Reads the token from a file. Creates one if there is none.
    pub fn of(file: &Path) -> std::io::Result<Self> {
        let mut options = std::fs::OpenOptions::new();
        match options.write(true).create_new(true).mode(0o600).open(file) {
            Ok(mut new) => {
                let text = format!("lh_{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
                new.write_all(text.as_bytes())?;
                new.sync_all()?;
                Ok(Self { text, file: file.to_owned(), is_new: true })
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Self::read(file),
            Err(error) => Err(error),
        }
    }

    fn read(file: &Path) -> std::io::Result<Self> {
        let refused = |why: String| std::io::Error::new(std::io::ErrorKind::InvalidData, why);
        let open = std::fs::File::open(file)?;
        if open.metadata()?.permissions().mode() & 0o077 != 0 {
            let name = file.display();
            return Err(refused(format!(
                "{name} can be read by others; `chmod 600 {name}`, or remove it to get a new one"
            )));
        }
        let mut text = String::new();
        open.take(4096).read_to_string(&mut text)?;
        let text = text.trim().to_owned();
        if text.len() < CHARS_MIN {
            return Err(refused(format!("{} holds no token; remove it to get a new one", file.display())));
        }
        Ok(Self { text, file: file.to_owned(), is_new: false })
    }

    /// The token itself, to show it once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// Whether the file still has this token. Removing or changing the file revokes the token.
    pub(crate) fn is_kept(&self) -> bool {
        std::fs::read(&self.file).is_ok_and(|kept| self.is(String::from_utf8_lossy(&kept).trim()))
    }

    /// Whether this is the token that the client sent.
    pub(crate) fn is(&self, shown: &str) -> bool {
        bool::from(self.text.as_bytes().ct_eq(shown.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        let first = Token::of(&file).unwrap();
        let second = Token::of(&file).unwrap();
        assert!(first.is_new && !second.is_new);
        assert!(second.is(first.reveal()) && first.reveal().len() >= 64);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(!second.is("") && !second.is(&first.reveal()[1..]) && !second.is(&first.reveal().to_uppercase()));
    }

    #[test]
    fn a_token_that_others_can_read_or_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::of(&file).err().unwrap().to_string().contains("can be read by others"));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Token::of(&file).err().unwrap().to_string().contains("holds no token"));
    }
}
