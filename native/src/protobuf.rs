//! Protobuf's messages (https://protobuf.dev/programming-guides/encoding): fields in any order, known by their numbers.
//!
//! Items of a repeated field are appended where they are met, as they have a column of their own; what was not met gets
//! its default at the end. What is rare is left to Python, as a row that is refused: groups, a field that comes twice,
//! two members of a oneof, a number without a symbol.

use crate::columns::Values;
use crate::payload::{Payload, Refused, checked_text, zigzag};
use crate::program::{Given, Step, StepNumber, is_bytes};
use crate::run::{Reader, Stop};

/// Messages within messages that Google's runtime follows.
const DEEPEST: usize = 100;

const VARINT: u8 = 0;
const FIXED64: u8 = 1;
const LENGTH: u8 = 2;
const FIXED32: u8 = 5;

/// Lengths, and tags, are below.
const LONGEST: usize = 1 << 31;

const FIRST_SECOND: i64 = -62_135_596_800; // of the year 1
const LAST_SECOND: i64 = 253_402_300_799; // of the year 9999

/// A type of fields, as `FieldDescriptorProto.Type` numbers those of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Double,
    Float,
    Int64,
    Uint64,
    Int32,
    Fixed64,
    Fixed32,
    Bool,
    Text,
    Bytes,
    Uint32,
    Sfixed32,
    Sfixed64,
    Sint32,
    Sint64,
}

impl Type {
    fn of(number: usize) -> Option<Type> {
        Some(match number {
            1 => Type::Double,
            2 => Type::Float,
            3 => Type::Int64,
            4 => Type::Uint64,
            5 => Type::Int32,
            6 => Type::Fixed64,
            7 => Type::Fixed32,
            8 => Type::Bool,
            9 => Type::Text,
            12 => Type::Bytes,
            13 => Type::Uint32,
            15 => Type::Sfixed32,
            16 => Type::Sfixed64,
            17 => Type::Sint32,
            18 => Type::Sint64,
            _ => return None,
        })
    }

    fn wire(self) -> u8 {
        match self {
            Type::Double | Type::Fixed64 | Type::Sfixed64 => FIXED64,
            Type::Float | Type::Fixed32 | Type::Sfixed32 => FIXED32,
            Type::Text | Type::Bytes => LENGTH,
            _ => VARINT,
        }
    }

    fn fits(self, values: &Values) -> bool {
        match self {
            Type::Double => matches!(values, Values::Float64(_)),
            Type::Float => matches!(values, Values::Float32(_)),
            Type::Bool => matches!(values, Values::Boolean(_)),
            Type::Text | Type::Bytes => is_bytes(values),
            Type::Uint64 | Type::Fixed64 => matches!(values, Values::Decimal(_)),
            Type::Int32 | Type::Sint32 | Type::Sfixed32 => matches!(values, Values::Int32(_)),
            _ => matches!(values, Values::Int64(_)),
        }
    }

    /// A number that is no fraction; of uint64 all fit into 128 bits.
    #[inline]
    fn whole(self, from: &mut Payload) -> Result<i128, Refused> {
        Ok(match self {
            Type::Int64 => i128::from(from.varint()? as i64),
            Type::Uint64 => i128::from(from.varint()?),
            Type::Int32 => i128::from(from.varint()? as i32),
            Type::Uint32 => i128::from(from.varint()? as u32),
            Type::Sint32 => i128::from(zigzag(u64::from(from.varint()? as u32)) as i32),
            Type::Sint64 => i128::from(zigzag(from.varint()?)),
            Type::Fixed64 => i128::from(from.array().map(u64::from_le_bytes)?),
            Type::Sfixed64 => i128::from(from.array().map(i64::from_le_bytes)?),
            Type::Fixed32 => i128::from(from.array().map(u32::from_le_bytes)?),
            Type::Sfixed32 => i128::from(from.array().map(i32::from_le_bytes)?),
            Type::Bool => i128::from(from.varint()? != 0),
            Type::Double | Type::Float | Type::Text | Type::Bytes => return Err(Refused),
        })
    }
}

/// The fields of a message: their steps in the order of its columns; and their places there in the order of numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fields {
    steps: Box<[StepNumber]>,
    numbers: Box<[(u32, u16)]>,
}

impl Fields {
    /// next: where in `numbers` it would be, if fields came in their order.
    #[inline]
    fn find(&self, number: u32, next: &mut usize) -> Option<usize> {
        let at = match self.numbers.get(*next) {
            Some((expected, _)) if *expected == number => *next,
            _ => self.numbers.binary_search_by_key(&number, |(each, _)| *each).ok()?,
        };
        *next = at + 1;
        Some(usize::from(self.numbers[at].1))
    }
}

/// A key, by which the entries of a map are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'p> {
    Number(i128),
    Text(&'p [u8]),
}

impl Reader<'_> {
    pub(crate) fn message(
        &mut self,
        from: &mut Payload,
        to: Option<usize>,
        values: usize,
        fields: &Fields,
    ) -> Result<(), Stop> {
        if self.depth > self.limits.depth.min(DEEPEST) {
            return Err(Stop::Row);
        }
        self.count(values, 0)?;
        if let Some(to) = to {
            self.columns.mark(to);
        }
        self.depth += 1;
        let before = self.met.len();
        self.met.resize(before + fields.steps.len(), 0);
        self.fields(from, before, fields)?;
        self.met.truncate(before);
        self.depth -= 1;
        Ok(())
    }

    /// before: where in `met` the fields of this message are.
    fn fields<'p>(&mut self, from: &mut Payload<'p>, before: usize, fields: &Fields) -> Result<(), Stop> {
        let (steps, mut next, mut oneofs) = (self.steps, 0, 0_u64);
        let mut entries: Vec<(usize, &'p [u8])> = Vec::new();
        while from.left() > 0 {
            let (number, wire) = tag(from)?;
            let Some(at) = fields.find(number, &mut next) else {
                skip(from, wire)?;
                continue;
            };
            match &steps.all[fields.steps[at] as usize] {
                Step::Single { wire: own, oneof, value, .. } if *own == wire => {
                    let taken = if *oneof == 0 { 0 } else { 1 << (oneof - 1) };
                    if self.met[before + at] > 0 || oneofs & taken != 0 {
                        return Err(Stop::Row);
                    }
                    oneofs |= taken;
                    self.met[before + at] = 1;
                    self.value(from, wire, *value)?;
                }
                Step::Several { wire: own, item, each, .. } => {
                    self.count(1, *each)?;
                    if *own == wire {
                        self.met[before + at] += 1;
                        self.value(from, wire, *item)?;
                    } else if wire == LENGTH && (*own == VARINT || *own == FIXED32 || *own == FIXED64) {
                        self.met[before + at] += self.packed(&mut Payload::new(length(from)?), *own, *item, *each)?;
                    } else {
                        skip(from, wire)?;
                    }
                }
                Step::Pairs { each, .. } => {
                    self.count(1, *each)?;
                    if wire == LENGTH { entries.push((at, length(from)?)) } else { skip(from, wire)? }
                }
                _ => skip(from, wire)?, // of another type: as unknown as any
            }
        }
        for (at, step) in fields.steps.iter().enumerate() {
            match &steps.all[*step as usize] {
                Step::Single { missing, .. } if self.met[before + at] == 0 => self.step(from, *missing)?,
                Step::Several { to, .. } => self.columns.repeated(*to as usize, self.met[before + at] as usize)?,
                Step::Pairs { to, key, value, entry, .. } => {
                    let mine = entries.iter().filter(|(of, _)| *of == at).map(|(_, entry)| *entry);
                    let count = self.pairs(mine.collect(), *key, *value, *entry)?;
                    self.columns.repeated(*to as usize, count)?;
                }
                _ => (),
            }
        }
        Ok(())
    }

    /// The step reads what has a length from its beginning to its end.
    #[inline]
    fn value(&mut self, from: &mut Payload, wire: u8, step: StepNumber) -> Result<(), Stop> {
        if wire == LENGTH { self.step(&mut Payload::new(length(from)?), step) } else { self.step(from, step) }
    }

    /// How many numbers there are.
    fn packed(&mut self, from: &mut Payload, wire: u8, item: StepNumber, each: usize) -> Result<u32, Stop> {
        let count = match wire {
            FIXED64 => from.left() / 8,
            FIXED32 => from.left() / 4,
            _ => from.ahead().iter().filter(|byte| **byte < 0x80).count(),
        };
        self.count(count, count.saturating_mul(each))?;
        let mut read = 0;
        while from.left() > 0 {
            self.step(from, item)?;
            read += 1;
        }
        Ok(read)
    }

    /// The entries of a map in the order of their keys. One that occurs twice is left to Python: its last value counts.
    fn pairs(&mut self, entries: Vec<&[u8]>, kind: Type, value: u8, entry: StepNumber) -> Result<usize, Stop> {
        let mut sorted = Vec::with_capacity(entries.len());
        for each in entries {
            sorted.push((key(each, kind, value)?, each));
        }
        sorted.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        if sorted.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err(Stop::Row);
        }
        for (_, each) in &sorted {
            self.step(&mut Payload::new(each), entry)?;
        }
        Ok(sorted.len())
    }

    pub(crate) fn scalar(&mut self, from: &mut Payload, to: usize, kind: Type) -> Result<(), Stop> {
        match kind {
            Type::Text => self.columns.bytes(to, checked_text(from.rest())?)?,
            Type::Bytes => self.columns.bytes(to, from.rest())?,
            Type::Double => self.columns.float(to, from.double()?),
            Type::Float => self.columns.float(to, f64::from(from.float()?)),
            Type::Bool => self.columns.boolean(to, from.varint()? != 0),
            Type::Uint64 | Type::Fixed64 => self.columns.decimal(to, kind.whole(from)?),
            _ => self.columns.number(to, kind.whole(from)? as i64),
        }
        Ok(())
    }

    pub(crate) fn symbol(&mut self, from: &mut Payload, to: usize, symbols: &[(i32, Box<[u8]>)]) -> Result<(), Stop> {
        let number = from.varint()? as i32;
        let at = symbols.binary_search_by_key(&number, |(each, _)| *each).map_err(|_| Stop::Row)?;
        Ok(self.columns.bytes(to, &symbols[at].1)?)
    }

    /// google.protobuf.Timestamp, in microseconds.
    pub(crate) fn moment(&mut self, from: &mut Payload, to: usize) -> Result<(), Stop> {
        if self.depth > self.limits.depth.min(DEEPEST) {
            return Err(Stop::Row);
        }
        self.count(2, 0)?;
        let (mut seconds, mut nanos) = (0, 0);
        while from.left() > 0 {
            match tag(from)? {
                (1, VARINT) => seconds = from.varint()? as i64,
                (2, VARINT) => nanos = i64::from(from.varint()? as i32),
                (_, wire) => skip(from, wire)?,
            }
        }
        if !(FIRST_SECOND..=LAST_SECOND).contains(&seconds) || !(0..1_000_000_000).contains(&nanos) {
            return Err(Stop::Row);
        }
        self.columns.number(to, seconds * 1_000_000 + nanos / 1_000);
        Ok(())
    }
}

/// The number of a field, and its wire type.
#[inline]
fn tag(from: &mut Payload) -> Result<(u32, u8), Refused> {
    let tag = u32::try_from(from.varint()?).map_err(|_| Refused)?;
    if tag >> 3 == 0 { Err(Refused) } else { Ok((tag >> 3, (tag & 7) as u8)) }
}

#[inline]
fn length<'p>(from: &mut Payload<'p>) -> Result<&'p [u8], Refused> {
    let size = usize::try_from(from.varint()?).map_err(|_| Refused)?;
    if size >= LONGEST { Err(Refused) } else { from.take(size) }
}

/// Over the value of a field that is not known. Groups are left to Python.
fn skip(from: &mut Payload, wire: u8) -> Result<(), Refused> {
    match wire {
        VARINT => from.varint().map(|_| ()),
        FIXED64 => from.take(8).map(|_| ()),
        LENGTH => length(from).map(|_| ()),
        FIXED32 => from.take(4).map(|_| ()),
        _ => Err(Refused),
    }
}

/// The key of an entry, whose field has the number 1. value: the wire type of the other one.
fn key(entry: &[u8], kind: Type, value: u8) -> Result<Key<'_>, Refused> {
    let mut from = Payload::new(entry);
    let mut found = if kind == Type::Text { Key::Text(&[]) } else { Key::Number(0) };
    while from.left() > 0 {
        match tag(&mut from)? {
            (1, LENGTH) if kind == Type::Text => found = Key::Text(length(&mut from)?),
            (1, wire) if wire == kind.wire() => found = Key::Number(kind.whole(&mut from)?),
            (2, wire) if wire == value => skip(&mut from, wire)?,
            _ => return Err(Refused), // Google's runtime takes an entry with anything else for an unknown field
        }
    }
    Ok(found)
}

/// What instructions say, checked.
impl Given<'_> {
    pub(crate) fn message(&self) -> Result<Step, String> {
        let to = self.to(|values| matches!(values, Values::Struct { .. }))?;
        let steps = self.many(2)?;
        let mut numbers = Vec::with_capacity(steps.len());
        for (step, at) in steps.iter().zip(0..=u16::MAX) {
            match self.steps[*step as usize] {
                Step::Single { number, .. } | Step::Several { number, .. } | Step::Pairs { number, .. } => {
                    numbers.push((number, at));
                }
                _ => return Err("its steps are single, several or pairs".to_owned()),
            }
        }
        numbers.sort_unstable();
        if numbers.len() < steps.len() || numbers.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err("its fields have numbers of their own".to_owned());
        }
        Ok(Step::Message { to, values: self.natural(1)?, fields: Fields { steps, numbers: numbers.into() } })
    }

    pub(crate) fn single(&self) -> Result<Step, String> {
        let oneof = u8::try_from(self.natural(2)?).ok().filter(|oneof| *oneof <= 64).ok_or("more than 64 oneofs")?;
        Ok(Step::Single {
            number: self.field(0)?,
            wire: self.wire(1)?,
            oneof,
            value: self.before(3)?,
            missing: self.before(4)?,
        })
    }

    pub(crate) fn several(&self) -> Result<Step, String> {
        let to = self.column(|values| matches!(values, Values::Repeated { parts, .. } if parts.len() == 1))?;
        let (wire, item) = (self.wire(2)?, self.before(3)?);
        let fits = match &self.steps[item as usize] {
            Step::Scalar { kind, .. } => kind.wire() == wire,
            Step::Symbol { .. } => wire == VARINT,
            Step::Refuse => true,
            _ => wire == LENGTH,
        };
        if !fits {
            return Err("items are read by another step".to_owned());
        }
        Ok(Step::Several { to, number: self.field(1)?, wire, item, each: self.columns.width(to as usize) - 1 })
    }

    pub(crate) fn pairs(&self) -> Result<Step, String> {
        let to = self.column(|values| matches!(values, Values::Repeated { parts, .. } if parts.len() == 2))?;
        let key = self.kind(2)?;
        if matches!(key, Type::Bytes | Type::Double | Type::Float) {
            return Err("no key has such a type".to_owned());
        }
        let entry = self.before(3)?;
        let value = match &self.steps[entry as usize] {
            Step::Message { fields, .. } => fields.steps.iter().find_map(|step| match self.steps[*step as usize] {
                Step::Single { number: 2, wire, .. } => Some(wire),
                _ => None,
            }),
            _ => None,
        };
        let value = value.ok_or("an entry is a message with a value")?;
        Ok(Step::Pairs { to, number: self.field(1)?, key, value, entry, each: self.columns.width(to as usize) - 1 })
    }

    pub(crate) fn scalar(&self) -> Result<Step, String> {
        let kind = self.kind(1)?;
        let to = self.column(|values| kind.fits(values))?;
        if kind == Type::Bytes && self.columns.is_text(to as usize) {
            return Err("the column is of texts".to_owned());
        }
        Ok(Step::Scalar { to, kind })
    }

    pub(crate) fn symbol(&self) -> Result<Step, String> {
        let to = self.column(is_bytes)?;
        let mut symbols = Vec::with_capacity(self.texts.len());
        for (number, text) in self.numbers[1..].iter().zip(self.texts) {
            let number = i32::try_from(*number).map_err(|_| "a number has 32 bits")?;
            let text = text.as_deref().filter(|text| std::str::from_utf8(text).is_ok()).ok_or("a symbol is UTF-8")?;
            symbols.push((number, text.into()));
        }
        symbols.sort_unstable();
        if self.numbers.len() != self.texts.len() + 1 || symbols.windows(2).any(|two| two[0].0 == two[1].0) {
            return Err("each number has one text".to_owned());
        }
        Ok(Step::Symbol { to, symbols: symbols.into() })
    }

    fn field(&self, at: usize) -> Result<u32, String> {
        u32::try_from(self.numbers[at]).ok().filter(|number| *number > 0).ok_or("no field has such a number".to_owned())
    }

    fn wire(&self, at: usize) -> Result<u8, String> {
        u8::try_from(self.numbers[at]).ok().filter(|wire| *wire < 8).ok_or("no wire type has such a number".to_owned())
    }

    fn kind(&self, at: usize) -> Result<Type, String> {
        Type::of(self.natural(at)?).ok_or("no type of a scalar has such a number".to_owned())
    }
}
