//! A payload that is read from its beginning (Avro specification, Binary Encoding). It trusts no length and no count.

/// Something is wrong with the payload; the walker says what.
#[derive(Debug)]
pub struct Refused;

pub struct Payload<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Payload<'a> {
    pub fn new(data: &'a [u8]) -> Payload<'a> {
        Payload { data, at: 0 }
    }

    pub fn left(&self) -> usize {
        self.data.len() - self.at
    }

    #[inline]
    pub fn take(&mut self, size: usize) -> Result<&'a [u8], Refused> {
        let end = self.at.checked_add(size).ok_or(Refused)?;
        let found = self.data.get(self.at..end).ok_or(Refused)?;
        self.at = end;
        Ok(found)
    }

    /// What comes, which is not read by that.
    pub fn ahead(&self) -> &'a [u8] {
        &self.data[self.at..]
    }

    /// All that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let found = self.ahead();
        self.at = self.data.len();
        found
    }

    #[inline]
    fn byte(&mut self) -> Result<u8, Refused> {
        let found = *self.data.get(self.at).ok_or(Refused)?;
        self.at += 1;
        Ok(found)
    }

    /// A varint of 64 bits, as it stands.
    #[inline]
    pub fn varint(&mut self) -> Result<u64, Refused> {
        let first = self.byte()?;
        if first < 0x80 { Ok(u64::from(first)) } else { self.long_varint(first) }
    }

    fn long_varint(&mut self, first: u8) -> Result<u64, Refused> {
        let mut raw = u64::from(first & 0x7F);
        for shift in (7..64).step_by(7) {
            let byte = self.byte()?;
            if shift == 63 && byte > 1 {
                return Err(Refused); // more than 64 bits
            }
            raw |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(raw);
            }
        }
        Err(Refused)
    }

    #[inline]
    pub fn long(&mut self) -> Result<i64, Refused> {
        self.varint().map(zigzag)
    }

    #[inline]
    pub fn int(&mut self) -> Result<i64, Refused> {
        let raw = self.varint()?;
        if raw >> 32 != 0 { Err(Refused) } else { Ok(zigzag(raw)) }
    }

    /// A length, or the number of a branch or a symbol: below zero it is refused.
    #[inline]
    pub fn natural(&mut self) -> Result<usize, Refused> {
        let raw = self.varint()?;
        if raw & 1 == 1 { Err(Refused) } else { usize::try_from(raw >> 1).map_err(|_| Refused) }
    }

    /// How many items the next block has, each of which takes a byte at least; 0 at the end.
    #[inline]
    pub fn block(&mut self) -> Result<usize, Refused> {
        let count = self.long()?;
        if count < 0 {
            self.natural()?; // its size in bytes, for those who skip it
        }
        let count = usize::try_from(count.unsigned_abs()).map_err(|_| Refused)?;
        if count > self.left() { Err(Refused) } else { Ok(count) }
    }

    #[inline]
    pub fn bytes(&mut self) -> Result<&'a [u8], Refused> {
        let size = self.natural()?;
        self.take(size)
    }

    #[inline]
    pub fn text(&mut self) -> Result<&'a [u8], Refused> {
        self.bytes().and_then(checked_text)
    }

    #[inline]
    pub fn boolean(&mut self) -> Result<bool, Refused> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Refused),
        }
    }

    #[inline]
    pub fn float(&mut self) -> Result<f32, Refused> {
        self.array().map(f32::from_le_bytes)
    }

    #[inline]
    pub fn double(&mut self) -> Result<f64, Refused> {
        self.array().map(f64::from_le_bytes)
    }

    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        self.take(N)?.try_into().map_err(|_| Refused)
    }
}

#[inline]
pub fn checked_text(found: &[u8]) -> Result<&[u8], Refused> {
    if found.is_ascii() || simdutf8::basic::from_utf8(found).is_ok() { Ok(found) } else { Err(Refused) }
}

pub fn zigzag(raw: u64) -> i64 {
    (raw >> 1) as i64 ^ -((raw & 1) as i64)
}
