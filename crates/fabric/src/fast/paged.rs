//! A table by host, in pages that are made as they are needed.

use prefetch_index::prefetch_index;

const PAGE: usize = 64;

/// One `T` for each host; the default where nothing was written.
#[derive(Debug, Default)]
pub(crate) struct Paged<T> {
    pages: Vec<Option<Box<[T; PAGE]>>>,
}

impl<T: Copy + Default> Paged<T> {
    #[inline]
    pub(crate) fn get(&self, key: u32) -> T {
        let page = self.pages.get(key as usize / PAGE).and_then(Option::as_ref);
        page.map_or_else(T::default, |p| p[key as usize % PAGE])
    }
    /// Fetches it beforehand.
    #[inline(always)]
    pub(crate) fn expect(&self, key: u32) {
        if let Some(page) = self.pages.get(key as usize / PAGE).and_then(Option::as_ref) {
            prefetch_index(page.as_slice(), key as usize % PAGE);
        }
    }
    /// What stands there, if its page exists.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        let page = self.pages.get_mut(key as usize / PAGE)?.as_deref_mut()?;
        page.get_mut(key as usize % PAGE)
    }
    /// The same, made if need be.
    pub(crate) fn at(&mut self, key: u32) -> &mut T {
        let page = key as usize / PAGE;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        &mut self.pages[page].get_or_insert_with(|| Box::new([T::default(); PAGE]))[key as usize % PAGE]
    }
}
