//! Shows a run live on a terminal: a tree that is redrawn in place, and keys.
//!
//! Pure functions decide what is shown ([`frame`], [`table`]) and what a key does ([`act`]). Around them: the terminal
//! ([`terminal`], [`keys`], [`painter`]) and the loops that bring news ([`watch`], [`top`]).
//!
//! **Invariant:** text reaches the terminal only through [`line::Span`], which removes control characters. No line is
//! wider than the terminal, and no frame is higher.

pub(crate) mod act;
pub(crate) mod frame;
pub(crate) mod keys;
pub(crate) mod line;
pub(crate) mod offer;
pub(crate) mod painter;
pub(crate) mod rows;
pub(crate) mod said;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod top;
pub(crate) mod watch;

#[cfg(test)]
mod tests;
