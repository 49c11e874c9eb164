//! Who hears of which source: the handlers by token.

use std::sync::Arc;

use super::IoHandler;
use crate::net::Token;

/// Handlers by token; tokens of handlers that are gone are used again.
#[derive(Default)]
pub(super) struct IoTable {
    handlers: Vec<Option<Arc<dyn IoHandler>>>,
    free: Vec<usize>,
}

impl IoTable {
    pub(super) fn insert(&mut self, handler: Arc<dyn IoHandler>) -> Token {
        let index = self.free.pop().unwrap_or_else(|| {
            self.handlers.push(None);
            self.handlers.len() - 1
        });
        self.handlers[index] = Some(handler);
        Token(index)
    }

    pub(super) fn remove(&mut self, token: Token) {
        if let Some(slot @ Some(_)) = self.handlers.get_mut(token.0) {
            *slot = None;
            self.free.push(token.0);
        }
    }

    pub(super) fn get(&self, token: Token) -> Option<Arc<dyn IoHandler>> {
        self.handlers.get(token.0).cloned().flatten()
    }

    /// All of them.
    pub(super) fn all(&self) -> Vec<(Token, Arc<dyn IoHandler>)> {
        let slots = self.handlers.iter().enumerate();
        slots.filter_map(|(index, handler)| Some((Token(index), handler.clone()?))).collect()
    }
}
