//! A run on a terminal, live: a tree that is drawn again in place, and keys.
//!
//! What is shown is a function of what is known ([`frame`], [`table`]), what a key does is one as well ([`act`]). Around them: the terminal
//! ([`terminal`], [`keys`], [`painter`]) and the loops that bring news ([`watch`], [`top`]).
//!
//! **Invariant:** no text reaches the terminal but through [`line::Span`], which takes the characters out that would command it; no line is
//! wider than the terminal, and the whole is never higher.

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
