//! Runs a program over payloads: bytes are looked at once, what they mean is appended to columns.
//!
//! What is wrong with a payload only has to be noticed: its row is taken back and told, and the walker
//! (`sigla.decoding.avro_walk`) says what it was. The values of items and entries are counted before they are made, as
//! the walker's are, so that a few bytes do not become gigabytes.

use std::collections::HashSet;

use crate::columns::{Columns, NoRoom};
use crate::payload::{Payload, Refused};
use crate::program::{Step, StepNumber, Steps, To};

/// So many keys are compared with each other sooner than they are hashed.
const FEW: usize = 8;

/// Why a row ends before its end.
pub(crate) enum Stop {
    /// The walker says why.
    Row,
    /// All rows together would become too much.
    Batch,
}

impl From<Refused> for Stop {
    fn from(_: Refused) -> Stop {
        Stop::Row
    }
}

impl From<NoRoom> for Stop {
    fn from(_: NoRoom) -> Stop {
        Stop::Batch
    }
}

/// What payloads may become. Bytes of one; values of items and entries of one, and of a batch; Protobuf's messages within
/// messages.
pub struct Limits {
    pub bytes: usize,
    pub values: usize,
    pub depth: usize,
    pub batch: usize,
    pub trailing: bool,
}

pub struct Reader<'a> {
    pub steps: &'a Steps,
    pub columns: &'a mut Columns,
    pub limits: &'a Limits,
    /// Values of items and entries that this row says there are, and those that all rows so far have in columns.
    taken: usize,
    held: usize,
    /// Protobuf's messages around what is read, and how often each of their fields was met.
    pub(crate) depth: usize,
    pub(crate) met: Vec<u32>,
}

impl<'a> Reader<'a> {
    pub fn new(steps: &'a Steps, columns: &'a mut Columns, limits: &'a Limits) -> Reader<'a> {
        Reader { steps, columns, limits, taken: 0, held: 0, depth: 0, met: Vec::new() }
    }

    /// Appends a row: what the payload says, or a null, and then false.
    pub fn row(&mut self, payload: &[u8], program: StepNumber) -> Result<bool, NoRoom> {
        let (rows, held) = (self.columns.rows(0), self.held);
        self.taken = 0;
        match self.read(payload, program) {
            Ok(()) => Ok(true),
            Err(Stop::Batch) => Err(NoRoom),
            Err(Stop::Row) => {
                self.held = held;
                self.depth = 0;
                self.met.clear();
                self.columns.keep(0, rows);
                self.columns.null(0);
                Ok(false)
            }
        }
    }

    /// Values of items and entries, of all rows so far.
    pub fn values(&self) -> usize {
        self.held
    }

    fn read(&mut self, payload: &[u8], program: StepNumber) -> Result<(), Stop> {
        if payload.len() > self.limits.bytes {
            return Err(Stop::Row);
        }
        let mut from = Payload::new(payload);
        self.step(&mut from, program)?;
        if from.left() > 0 && !self.limits.trailing { Err(Stop::Row) } else { Ok(()) }
    }

    pub(crate) fn step(&mut self, from: &mut Payload, number: StepNumber) -> Result<(), Stop> {
        let steps = self.steps;
        match &steps.all[number as usize] {
            Step::Null { to } => {
                if let Some(to) = place(*to) {
                    self.columns.null(to);
                }
            }
            Step::Boolean { to } => {
                let value = from.boolean()?;
                if let Some(to) = place(*to) {
                    self.columns.boolean(to, value);
                }
            }
            Step::Number { to, long, times, by } => {
                let value = if *long { from.long()? } else { from.int()? };
                if let Some(to) = place(*to) {
                    let value = value.checked_mul(*times).ok_or(Stop::Row)?;
                    self.columns.number(to, if *by == 1 { value } else { value.div_euclid(*by) });
                }
            }
            Step::Float { to } => {
                let value = from.float()?;
                if let Some(to) = place(*to) {
                    self.columns.float(to, f64::from(value));
                }
            }
            Step::Double { to } => {
                let value = from.double()?;
                if let Some(to) = place(*to) {
                    self.columns.float(to, value);
                }
            }
            Step::Text { to } => {
                let value = from.text()?;
                if let Some(to) = place(*to) {
                    self.columns.bytes(to, value)?;
                }
            }
            Step::Bytes { to } => {
                let value = from.bytes()?;
                if let Some(to) = place(*to) {
                    self.columns.bytes(to, value)?;
                }
            }
            Step::Fixed { to, size } => {
                let value = from.take(*size)?;
                if let Some(to) = place(*to) {
                    self.columns.bytes(to, value)?;
                }
            }
            Step::Decimal { to, size, most } => {
                let data = match size {
                    Some(size) => from.take(*size)?,
                    None => from.bytes()?,
                };
                let value = unscaled(data).filter(|value| value.unsigned_abs() <= *most).ok_or(Stop::Row)?;
                self.columns.decimal(*to as usize, value);
            }
            Step::Uuid { to } => {
                let value = from.take(16)?;
                self.columns.bytes(*to as usize, &uuid_text(value))?;
            }
            Step::Enum { to, symbols } => {
                let symbol = symbols.get(from.natural()?).and_then(Option::as_ref).ok_or(Stop::Row)?;
                if let Some(to) = place(*to) {
                    self.columns.bytes(to, symbol)?;
                }
            }
            Step::Array { to, item, each } => {
                let mut total = 0;
                loop {
                    let count = from.block()?;
                    if count == 0 {
                        break;
                    }
                    self.spend(count, *each)?;
                    total += count;
                    for _ in 0..count {
                        self.step(from, *item)?;
                    }
                }
                if let Some(to) = place(*to) {
                    self.columns.repeated(to, total)?;
                }
            }
            Step::Map { to, keys, value, each } => {
                let total = self.entries(from, to.map(|_| *keys as usize), *value, *each)?;
                if let Some(to) = place(*to) {
                    self.columns.repeated(to, total)?;
                }
            }
            Step::Union { branches } => {
                let branch = *branches.get(from.natural()?).ok_or(Stop::Row)?;
                self.step(from, branch)?;
            }
            Step::Member { to, others, step } => {
                self.columns.mark(*to as usize);
                for other in others {
                    self.columns.null(*other as usize);
                }
                self.step(from, *step)?;
            }
            Step::Record { to, steps } => {
                if let Some(to) = place(*to) {
                    self.columns.mark(to);
                }
                for step in steps {
                    self.step(from, *step)?;
                }
            }
            Step::Refuse => return Err(Stop::Row),
            Step::PutBoolean { to, value } => self.columns.boolean(*to as usize, *value),
            Step::PutNumber { to, value } => self.columns.number(*to as usize, *value),
            Step::PutDouble { to, bits } => self.columns.float(*to as usize, f64::from_bits(*bits)),
            Step::PutBytes { to, value } => self.columns.bytes(*to as usize, value)?,
            Step::PutDecimal { to, value } => self.columns.decimal(*to as usize, *value),
            Step::PutItems { to, count, steps } => {
                for step in steps {
                    self.step(from, *step)?;
                }
                self.columns.repeated(*to as usize, *count)?;
            }
            Step::Message { to, values, fields } => self.message(from, place(*to), *values, fields)?,
            Step::Scalar { to, kind } => self.scalar(from, *to as usize, *kind)?,
            Step::Symbol { to, symbols } => self.symbol(from, *to as usize, symbols)?,
            Step::Moment { to } => self.moment(from, *to as usize)?,
            Step::Single { .. } | Step::Several { .. } | Step::Pairs { .. } => return Err(Stop::Row), // `message` has them
        }
        Ok(())
    }

    /// How many entries a map has. A key that occurs twice is the walker's: its last value counts.
    fn entries(
        &mut self,
        from: &mut Payload,
        keys: Option<usize>,
        value: StepNumber,
        each: usize,
    ) -> Result<usize, Stop> {
        let first = keys.map_or(0, |keys| self.columns.rows(keys));
        let mut total = 0;
        loop {
            let count = from.block()?;
            if count == 0 {
                break;
            }
            self.spend(count, each)?;
            total += count;
            for _ in 0..count {
                let key = from.text()?;
                if let Some(keys) = keys {
                    self.columns.bytes(keys, key)?;
                }
                self.step(from, value)?;
            }
        }
        match keys {
            Some(keys) if total > 1 && !self.distinct(keys, first, total) => Err(Stop::Row),
            _ => Ok(total),
        }
    }

    fn distinct(&self, keys: usize, first: usize, count: usize) -> bool {
        if count > FEW {
            let mut met = HashSet::with_capacity(count);
            return self.columns.slice(keys, first..first + count).all(|key| met.insert(key));
        }
        let mut all = self.columns.slice(keys, first..first + count).enumerate();
        all.all(|(at, key)| !self.columns.slice(keys, first..first + at).any(|before| before == key))
    }

    /// Counts values before they are made.
    fn spend(&mut self, items: usize, each: usize) -> Result<(), Stop> {
        self.count(items.saturating_mul(each), items.saturating_mul(each))
    }

    /// said: values that count for the row. made: those that there will be in columns.
    pub(crate) fn count(&mut self, said: usize, made: usize) -> Result<(), Stop> {
        self.taken = self.taken.saturating_add(said);
        if self.taken > self.limits.values {
            return Err(Stop::Row);
        }
        self.held = self.held.saturating_add(made);
        if self.held > self.limits.batch { Err(Stop::Batch) } else { Ok(()) }
    }
}

fn place(to: To) -> Option<usize> {
    to.map(|column| column as usize)
}

/// A number as big-endian bytes, of any length, of which the first ones may say nothing; None beyond 128 bits.
fn unscaled(data: &[u8]) -> Option<i128> {
    let sign: u8 = if data.first().is_some_and(|first| first & 0x80 != 0) { 0xFF } else { 0 };
    let (front, rest) = data.split_at(data.len().saturating_sub(16));
    let mut wide = [sign; 16];
    wide[16 - rest.len()..].copy_from_slice(rest);
    let fits = front.iter().all(|byte| *byte == sign) && (front.is_empty() || (wide[0] ^ sign) & 0x80 == 0);
    fits.then(|| i128::from_be_bytes(wide))
}

fn uuid_text(data: &[u8]) -> [u8; 36] {
    let mut text = [b'-'; 36];
    let mut at = 0;
    for (number, byte) in data.iter().enumerate() {
        if matches!(number, 4 | 6 | 8 | 10) {
            at += 1;
        }
        text[at] = HEX[usize::from(byte >> 4)];
        text[at + 1] = HEX[usize::from(byte & 15)];
        at += 2;
    }
    text
}

const HEX: &[u8; 16] = b"0123456789abcdef";
