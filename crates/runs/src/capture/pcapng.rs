//! Blocks of a pcapng file (draft-ietf-opsawg-pcapng). A capture has four kinds of them, which take fewer lines than the calls of a
//! library that reads and writes all.

/// A pcapng file that is written.
pub(crate) struct Pcapng(Vec<u8>);

/// A block that is written.
struct Block<'a> {
    file: &'a mut Vec<u8>,
    begin: usize,
}

impl Block<'_> {
    fn put(&mut self, bytes: &[u8]) {
        self.file.extend_from_slice(bytes);
    }
    fn pad(&mut self) {
        while !(self.file.len() - self.begin).is_multiple_of(4) {
            self.file.push(0);
        }
    }
    /// An option, or a record of names: number, length, value, padding.
    fn option(&mut self, number: u16, value: &[u8]) {
        // A longer text would not fit its length field.
        let value = &value[..value.len().min(4000)];
        self.put(&number.to_le_bytes());
        self.put(&(value.len() as u16).to_le_bytes());
        self.put(value);
        self.pad();
    }
    /// Ends the block: its length stands at both ends.
    fn end(mut self) {
        self.pad();
        let length = (self.file.len() - self.begin + 4) as u32;
        self.file[self.begin + 4..self.begin + 8].copy_from_slice(&length.to_le_bytes());
        self.put(&length.to_le_bytes());
    }
}

const COMMENT: u16 = 1;

impl Pcapng {
    /// A file by this program, with a comment.
    pub(crate) fn new(program: &str, comment: &str) -> Self {
        let mut file = Self(Vec::new());
        let mut block = file.block(0x0A0D_0D0A);
        block.put(&0x1A2B_3C4D_u32.to_le_bytes());
        block.put(&[1, 0, 0, 0]);
        block.put(&u64::MAX.to_le_bytes());
        block.option(COMMENT, comment.as_bytes());
        block.option(4, program.as_bytes());
        block.option(0, &[]);
        block.end();
        file
    }

    fn block(&mut self, kind: u32) -> Block<'_> {
        let begin = self.0.len();
        self.0.extend_from_slice(&kind.to_le_bytes());
        self.0.extend_from_slice(&[0; 4]);
        Block { file: &mut self.0, begin }
    }

    /// Names of IPv4 addresses.
    pub(crate) fn names<'n>(&mut self, names: impl Iterator<Item = ([u8; 4], &'n str)>) {
        let mut block = self.block(4);
        for (address, name) in names {
            block.option(1, &[&address, name.as_bytes(), &[0]].concat());
        }
        block.option(0, &[]);
        block.end();
    }

    /// The next Ethernet interface: name, description, bit/s. Its times are nanoseconds.
    pub(crate) fn interface(&mut self, name: &str, about: &str, speed: u64) {
        let mut block = self.block(1);
        block.put(&[1, 0, 0, 0, 0, 0, 0, 0]);
        block.option(2, name.as_bytes());
        block.option(3, about.as_bytes());
        block.option(8, &speed.to_le_bytes());
        block.option(9, &[9]);
        block.option(0, &[]);
        block.end();
    }

    /// A frame of an interface: when, ns; its first bytes, how many it has on the wire, and a comment, if it is not empty.
    pub(crate) fn frame(&mut self, interface: u32, ns: u64, bytes: &[u8], length: u32, comment: &str) {
        let mut block = self.block(6);
        for word in [interface, (ns >> 32) as u32, ns as u32, bytes.len() as u32, length] {
            block.put(&word.to_le_bytes());
        }
        block.put(bytes);
        block.pad();
        if !comment.is_empty() {
            block.option(COMMENT, comment.as_bytes());
            block.option(0, &[]);
        }
        block.end();
    }

    /// The bytes of the file.
    pub(crate) fn bytes(self) -> Vec<u8> {
        self.0
    }
}
