//! A table by host, in pages that are made as they are needed.
//!
//! * Claim: a table by host costs nothing where nothing was written.
//! * Same bits: an absent page reads as the default.
//! * Bench row: t1024 qcn-2pt.
//! * Marks: none of its own: every limiter and reflector is found here.

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
    /// The entry of a key, in a page that is made if need be.
    pub(crate) fn at(&mut self, key: u32) -> &mut T {
        let page = key as usize / PAGE;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        &mut self.pages[page].get_or_insert_with(|| Box::new([T::default(); PAGE]))[key as usize % PAGE]
    }
}
