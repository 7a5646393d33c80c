//! Where things stand that few of many numbers have, found without a hash: a table of pages, made as they are needed.

const PAGE: usize = 64;

/// Places by number.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// A place and one more, or 0.
    pages: Vec<Option<Box<[u32; PAGE]>>>,
}

impl Places {
    /// The place of this number.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<usize> {
        let Some(Some(page)) = self.pages.get(number as usize / PAGE) else { return None };
        (page[number as usize % PAGE] as usize).checked_sub(1)
    }

    pub(crate) fn set(&mut self, number: u32, place: Option<usize>) {
        let page = number as usize / PAGE;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new([0; PAGE]));
        page[number as usize % PAGE] = place.map_or(0, |p| p as u32 + 1);
    }
}
