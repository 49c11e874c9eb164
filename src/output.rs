//! Result files: written whole or not at all, and never over another result when the name is ours to choose.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use thiserror::Error;

/// Where a document goes.
#[derive(Debug)]
pub struct Output {
    place: Place,
}

#[derive(Debug)]
enum Place {
    /// A file, replaced by each write.
    File(PathBuf),
    /// A name that no file has yet, found at the first write.
    Fresh { dir: PathBuf, stem: String },
    /// A pipe or a device: can't be replaced, so only the whole document is written to it.
    Stream(PathBuf),
}

/// Why a document can't be written.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The directory isn't there.
    #[error("there is no directory {}: create it with mkdir -p, or name another place", .0.display())]
    NoDirectory(PathBuf),
    /// What should be a directory isn't one.
    #[error("{} is no directory: leave out the slash at its end, or name another place", .0.display())]
    NotADirectory(PathBuf),
    /// The system refuses it.
    #[error("cannot write {}: {error}; name another place with -o", path.display())]
    Refused {
        /// What was to be written.
        path: PathBuf,
        /// Why it can't be.
        error: io::Error,
    },
}

impl Output {
    /// Finds out where a document goes and whether it can be written there, and leaves nothing behind.
    /// A directory, or a path with a slash at its end, takes a new file named by `stem`; any other path is a file.
    ///
    /// # Errors
    /// When the directory isn't there or nothing can be written to it.
    pub fn open(path: &Path, stem: &str) -> Result<Output, OutputError> {
        let place = place(path, stem)?;
        match &place {
            Place::File(path) => probe(path)?,
            Place::Fresh { dir, .. } => drop(temporary(dir, dir)?),
            Place::Stream(path) => drop(open_stream(path)?),
        }
        Ok(Output { place })
    }

    /// Writes a document and says where; nowhere yet, when it isn't the last one and the place takes only one.
    ///
    /// # Errors
    /// When it can't be written; what was there before is then still there.
    pub fn write(&mut self, text: &[u8], last: bool) -> Result<Option<PathBuf>, OutputError> {
        match &self.place {
            Place::File(path) => {
                let file = filled(parent(path), path, text)?;
                file.persist(path).map_err(|error| refused(path, error.error))?;
                Ok(Some(path.clone()))
            }
            Place::Fresh { dir, stem } => {
                let path = persist_fresh(filled(dir, dir, text)?, dir, stem)?;
                self.place = Place::File(path.clone());
                Ok(Some(path))
            }
            Place::Stream(path) if last => {
                let mut stream = open_stream(path)?;
                stream.write_all(text).map_err(|error| refused(path, error))?;
                Ok(Some(path.clone()))
            }
            Place::Stream(_) => Ok(None),
        }
    }
}

/// A file name without its extension, made of what was run, the label and the time stamp (RFC 3339).
pub fn stem(what: &str, label: Option<&str>, started: &str) -> String {
    let seconds = started.split(['.', 'Z', '+']).next().unwrap_or(started);
    let stamp: String = seconds.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    let plain = |c: char| {
        if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' }
    };
    match label {
        // No file system takes names over 255 bytes; a character is at most four.
        Some(label) => {
            let label: String = label.chars().take(40).map(plain).collect();
            format!("{what}-{label}-{stamp}Z")
        }
        None => format!("{what}-{stamp}Z"),
    }
}

fn place(path: &Path, stem: &str) -> Result<Place, OutputError> {
    let slash = path.to_string_lossy().ends_with(std::path::is_separator);
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Ok(Place::Fresh { dir: path.into(), stem: stem.into() }),
        Ok(_) if slash => Err(OutputError::NotADirectory(path.into())),
        // Replaces the file that a link names, not the link.
        Ok(meta) if meta.is_file() => {
            fs::canonicalize(path).map(Place::File).map_err(|error| refused(path, error))
        }
        Ok(_) => Ok(Place::Stream(path.into())),
        Err(error) if error.kind() == io::ErrorKind::NotFound && slash => {
            Err(OutputError::NoDirectory(path.into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(OutputError::NotADirectory(parent(path).into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Place::File(path.into())),
        Err(error) => Err(refused(path, error)),
    }
}

/// Whether a file can be put there.
fn probe(path: &Path) -> Result<(), OutputError> {
    let dir = parent(path);
    if !dir.is_dir() {
        return Err(OutputError::NoDirectory(dir.into()));
    }
    if path.exists() {
        // Replacing needs the directory's permission only, but a file that is protected is meant to stay.
        open_stream(path)?;
    }
    temporary(dir, path).map(drop)
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

fn open_stream(path: &Path) -> Result<File, OutputError> {
    OpenOptions::new().write(true).open(path).map_err(|error| refused(path, error))
}

fn temporary(dir: &Path, path: &Path) -> Result<NamedTempFile, OutputError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".loopprobe-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any other file: the umask decides.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(dir).map_err(|error| refused(path, error))
}

fn filled(dir: &Path, path: &Path, text: &[u8]) -> Result<NamedTempFile, OutputError> {
    let mut file = temporary(dir, path)?;
    file.write_all(text).and_then(|()| file.as_file().sync_all()).map_err(|error| refused(path, error))?;
    Ok(file)
}

fn persist_fresh(mut file: NamedTempFile, dir: &Path, stem: &str) -> Result<PathBuf, OutputError> {
    let mut name = format!("{stem}.json");
    let mut n: u64 = 1;
    loop {
        let path = dir.join(&name);
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(path),
            Err(taken) if taken.error.kind() == io::ErrorKind::AlreadyExists => {
                file = taken.file;
                n += 1;
                name = format!("{stem}-{n}.json");
            }
            Err(failed) => return Err(refused(&path, failed.error)),
        }
    }
}

fn refused(path: &Path, error: io::Error) -> OutputError {
    OutputError::Refused { path: path.into(), error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_chosen_name_never_replaces_a_file() {
        let dir = tempfile::tempdir().unwrap();
        for n in 0..3 {
            let mut output = Output::open(dir.path(), "all-x").unwrap();
            output.write(format!("part {n}").as_bytes(), false).unwrap();
            output.write(format!("whole {n}").as_bytes(), true).unwrap();
        }
        assert_eq!(names(dir.path()), ["all-x-2.json", "all-x-3.json", "all-x.json"]);
        let first = fs::read_to_string(dir.path().join("all-x.json")).unwrap();
        assert_eq!(first, "whole 0");
    }

    #[test]
    fn a_file_is_replaced_whole_and_opening_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        let mut output = Output::open(&path, "").unwrap();
        assert!(names(dir.path()).is_empty(), "nothing before there is a result");
        output.write(b"longer than the next", false).unwrap();
        output.write(b"short", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
        assert_eq!(names(dir.path()), ["r.json"]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let missing = dir.path().join("missing/");
        let error = Output::open(&missing, "x").unwrap_err().to_string();
        assert!(error.contains("missing/") && error.contains("mkdir"), "{error}");
        let error = Output::open(&missing.join("r.json"), "x").unwrap_err();
        assert!(matches!(error, OutputError::NoDirectory(_)), "{error}");
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Output::open(&file.join("r.json"), "x").unwrap_err();
        assert!(matches!(error, OutputError::NotADirectory(_)), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("file"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        Output::open(&link, "").unwrap().write(b"new", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mut null = Output::open(Path::new("/dev/null"), "").unwrap();
        assert_eq!(null.write(b"part", false).unwrap(), None);
        null.write(b"whole", true).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn names_are_plain() {
        let started = "2026-01-02T03:04:05.678Z";
        assert_eq!(stem("all", None, started), "all-20260102T030405Z");
        assert_eq!(stem("all", Some("my mac/../x"), started), "all-my-mac-..-x-20260102T030405Z");
    }
}
