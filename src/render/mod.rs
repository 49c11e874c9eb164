//! The terminal's text, made from the same values that are written as JSON.
//!
//! All of these are pure: values in, text with ANSI styles out. Whether the styles reach the reader is
//! decided where the text is written.

mod claims;
mod noise;
mod result;
mod style;
mod summary;
mod timeline;
mod value;

pub use result::result;
pub use summary::{not_holding, summary};

pub(crate) use style::{bold, dim, verdict};
pub(crate) use value::{json, text_value};
