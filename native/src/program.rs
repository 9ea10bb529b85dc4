//! Instructions: a plan, flat. Python makes them (`sigla_pipelines/land/decoders/avro_program.py`), `run` carries them out.
//!
//! An instruction has a name, numbers and texts. Numbers are columns (`NOWHERE`: of a value that is read and not kept),
//! instructions that stand before it, or figures: TABLE says which, and everything is checked against it here, so that
//! whoever runs them asks nothing.

use std::collections::HashMap;

use crate::columns::{Columns, Values};
use crate::protobuf::{Fields, Type};

/// What a number of an instruction is. MANY stands last, for any number of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The number of a column, or `NOWHERE`.
    Column,
    /// An instruction that stands before.
    Step,
    Figure,
    Many,
    /// As many as there are texts, at the end.
    Figures,
}

pub const NOWHERE: i64 = -1;

use Operand::{Column, Figure, Figures, Many, Step as Before};

/// Every instruction, its numbers, and whether it has texts.
pub const TABLE: &[(&str, &[Operand], bool)] = &[
    ("null", &[Column], false),
    ("boolean", &[Column], false),
    ("number", &[Column, Figure, Figure, Figure], false), // bits, times, divided by
    ("float", &[Column], false),
    ("double", &[Column], false),
    ("text", &[Column], false),
    ("bytes", &[Column], false),
    ("fixed", &[Column, Figure], false),           // size
    ("decimal", &[Column, Figure, Figure], false), // size, NOWHERE where it is written in front; digits
    ("uuid", &[Column], false),
    ("enum", &[Column], true),
    ("array", &[Column, Before, Figure], false), // the columns that an item adds to
    ("map", &[Column, Before, Figure], false),
    ("union", &[Many], false),
    ("member", &[Column, Figure, Before], false), // which member
    ("record", &[Column, Many], false),
    ("refuse", &[], false),
    ("put_boolean", &[Column, Figure], false),
    ("put_number", &[Column, Figure], false),
    ("put_double", &[Column, Figure], false), // its bits
    ("put_bytes", &[Column], true),
    ("put_decimal", &[Column], true),              // 16 bytes, the lowest first
    ("put_items", &[Column, Figure, Many], false), // how many
    ("message", &[Column, Figure, Many], false),   // of Protobuf, as all that follow; values that it counts for
    ("single", &[Figure, Figure, Figure, Before, Before], false), // number, wire type, oneof (0: of none)
    ("several", &[Column, Figure, Figure, Before], false), // number, wire type
    ("pairs", &[Column, Figure, Figure, Before], false), // number, type of the key
    ("scalar", &[Column, Figure], false),          // type
    ("symbol", &[Column, Figures], true),          // numbers of the texts
    ("moment", &[Column], false),
];

pub type StepNumber = u32;

/// None as a column: the value goes nowhere.
pub type To = Option<u32>;

/// The texts of an enum's numbers; None where the reader knows no such symbol.
pub type Symbols = Box<[Option<Box<[u8]>>]>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Null { to: To },
    Boolean { to: To },
    Number { to: To, long: bool, times: i64, by: i64 },
    Float { to: To },
    Double { to: To },
    Text { to: To },
    Bytes { to: To },
    Fixed { to: To, size: usize },
    Decimal { to: u32, size: Option<usize>, most: u128 },
    Uuid { to: u32 },
    Enum { to: To, symbols: Symbols },
    Array { to: To, item: StepNumber, each: usize },
    Map { to: To, keys: u32, value: StepNumber, each: usize },
    Union { branches: Box<[StepNumber]> },
    Member { to: u32, others: Box<[u32]>, step: StepNumber },
    Record { to: To, steps: Box<[StepNumber]> },
    Refuse,
    PutBoolean { to: u32, value: bool },
    PutNumber { to: u32, value: i64 },
    PutDouble { to: u32, bits: u64 },
    PutBytes { to: u32, value: Box<[u8]> },
    PutDecimal { to: u32, value: i128 },
    PutItems { to: u32, count: usize, steps: Box<[StepNumber]> },
    Message { to: To, values: usize, fields: Fields },
    Single { number: u32, wire: u8, oneof: u8, value: StepNumber, missing: StepNumber },
    Several { to: u32, number: u32, wire: u8, item: StepNumber, each: usize },
    Pairs { to: u32, number: u32, key: Type, value: u8, entry: StepNumber, each: usize },
    Scalar { to: u32, kind: Type },
    Symbol { to: u32, symbols: Box<[(i32, Box<[u8]>)]> },
    Moment { to: u32 },
}

/// An instruction as Python gives it.
pub type Instruction = (String, Vec<i64>, Vec<Option<Vec<u8>>>);

/// The steps of all programs of one reader. What two programs have in common is there once: thousands of writers of a
/// subject have most fields in common, and what is read out of a cache would be half of what a record costs.
#[derive(Default)]
pub struct Steps {
    pub all: Vec<Step>,
    known: HashMap<Step, StepNumber>,
}

impl Steps {
    /// The step that a program begins with, its last one. Fails with a sentence.
    pub fn add(&mut self, program: &[Instruction], columns: &Columns) -> Result<StepNumber, String> {
        let mut made: Vec<StepNumber> = Vec::with_capacity(program.len());
        for (name, numbers, texts) in program {
            let step =
                checked(name, numbers, texts, &made, columns, &self.all).map_err(|why| format!("{name}: {why}"))?;
            made.push(self.number(step));
        }
        made.last().copied().ok_or_else(|| "a program has an instruction at least".to_owned())
    }

    fn number(&mut self, step: Step) -> StepNumber {
        let next = self.all.len() as StepNumber;
        let all = &mut self.all;
        *self.known.entry(step).or_insert_with_key(|step| {
            all.push(step.clone());
            next
        })
    }
}

fn checked(
    name: &str,
    numbers: &[i64],
    texts: &[Option<Vec<u8>>],
    made: &[StepNumber],
    columns: &Columns,
    steps: &[Step],
) -> Result<Step, String> {
    let (_, operands, has_texts) = TABLE.iter().find(|(known, ..)| *known == name).ok_or("unknown")?;
    let (fixed, many) = match operands.split_last() {
        Some((Many | Figures, fixed)) => (fixed, true),
        _ => (*operands, false),
    };
    if numbers.len() < fixed.len() || (!many && numbers.len() > fixed.len()) || (!has_texts && !texts.is_empty()) {
        return Err("other operands are expected".to_owned());
    }
    let given = Given { numbers, texts, made, columns, steps };
    given.step(name, fixed.len())
}

pub(crate) struct Given<'a> {
    pub(crate) numbers: &'a [i64],
    pub(crate) texts: &'a [Option<Vec<u8>>],
    made: &'a [StepNumber],
    pub(crate) columns: &'a Columns,
    pub(crate) steps: &'a [Step],
}

impl Given<'_> {
    fn step(&self, name: &str, fixed: usize) -> Result<Step, String> {
        use Values as V;
        Ok(match name {
            "null" => Step::Null { to: self.to(|_| true)? },
            "boolean" => Step::Boolean { to: self.to(|values| matches!(values, V::Boolean(_)))? },
            "number" => self.number()?,
            "float" => Step::Float { to: self.to(|values| matches!(values, V::Float32(_) | V::Float64(_)))? },
            "double" => Step::Double { to: self.to(|values| matches!(values, V::Float64(_)))? },
            "text" => Step::Text { to: self.to(is_bytes)? },
            "bytes" => Step::Bytes { to: self.to_binary()? },
            "fixed" => Step::Fixed { to: self.to_binary()?, size: self.natural(1)? },
            "decimal" => Step::Decimal {
                to: self.column(|values| matches!(values, V::Decimal(_)))?,
                size: if self.numbers[1] == NOWHERE { None } else { Some(self.natural(1)?) },
                most: 10_u128.checked_pow(self.natural(2)? as u32).ok_or("too many digits")? - 1,
            },
            "uuid" => Step::Uuid { to: self.column(is_bytes)? },
            "enum" => Step::Enum { to: self.to(is_bytes)?, symbols: self.symbols()? },
            "array" => Step::Array {
                to: self.to(|values| matches!(values, V::Repeated { parts, .. } if parts.len() == 1))?,
                item: self.before(1)?,
                each: self.natural(2)?,
            },
            "map" => self.map()?,
            "union" => Step::Union { branches: self.many(fixed)? },
            "member" => self.member()?,
            "record" => {
                Step::Record { to: self.to(|values| matches!(values, V::Struct { .. }))?, steps: self.many(fixed)? }
            }
            "refuse" => Step::Refuse,
            "put_boolean" => Step::PutBoolean {
                to: self.column(|values| matches!(values, V::Boolean(_)))?,
                value: self.numbers[1] != 0,
            },
            "put_number" => self.put_number()?,
            "put_double" => Step::PutDouble {
                to: self.column(|values| matches!(values, V::Float32(_) | V::Float64(_)))?,
                bits: self.numbers[1] as u64,
            },
            "put_bytes" => self.put_bytes()?,
            "put_decimal" => Step::PutDecimal {
                to: self.column(|values| matches!(values, V::Decimal(_)))?,
                value: i128::from_le_bytes(self.text()?.try_into().map_err(|_| "16 bytes are expected")?),
            },
            "message" => self.message()?,
            "single" => self.single()?,
            "several" => self.several()?,
            "pairs" => self.pairs()?,
            "scalar" => self.scalar()?,
            "symbol" => self.symbol()?,
            "moment" => Step::Moment { to: self.column(|values| matches!(values, V::Int64(_)))? },
            _ => Step::PutItems {
                to: self.column(|values| matches!(values, V::Repeated { .. }))?,
                count: self.natural(1)?,
                steps: self.many(fixed)?,
            },
        })
    }

    /// The column that the first number is, or nowhere.
    pub(crate) fn to(&self, fits: impl Fn(&Values) -> bool) -> Result<To, String> {
        if self.numbers[0] == NOWHERE { Ok(None) } else { self.column(fits).map(Some) }
    }

    pub(crate) fn column(&self, fits: impl Fn(&Values) -> bool) -> Result<u32, String> {
        let number = self.natural(0)?;
        if number >= self.columns.count() || !fits(self.columns.values(number)) {
            return Err(format!("the column {number} does not take it"));
        }
        Ok(number as u32)
    }

    /// A column of bytes that are no text: what may not be UTF-8 has no place in another.
    fn to_binary(&self) -> Result<To, String> {
        let to = self.to(is_bytes)?;
        match to {
            Some(column) if self.columns.is_text(column as usize) => Err(format!("the column {column} is of texts")),
            _ => Ok(to),
        }
    }

    pub(crate) fn natural(&self, at: usize) -> Result<usize, String> {
        usize::try_from(self.numbers[at]).map_err(|_| format!("{} is below zero", self.numbers[at]))
    }

    pub(crate) fn before(&self, at: usize) -> Result<StepNumber, String> {
        let number = self.natural(at)?;
        self.made.get(number).copied().ok_or_else(|| format!("the instruction {number} does not stand before it"))
    }

    pub(crate) fn many(&self, from: usize) -> Result<Box<[StepNumber]>, String> {
        (from..self.numbers.len()).map(|at| self.before(at)).collect()
    }

    fn text(&self) -> Result<&[u8], String> {
        match self.texts {
            [Some(text)] => Ok(text),
            _ => Err("one text is expected".to_owned()),
        }
    }

    fn symbols(&self) -> Result<Symbols, String> {
        if self.texts.iter().flatten().any(|text| std::str::from_utf8(text).is_err()) {
            return Err("a symbol is no UTF-8".to_owned());
        }
        Ok(self.texts.iter().map(|text| text.as_deref().map(Into::into)).collect())
    }

    fn put_bytes(&self) -> Result<Step, String> {
        let (to, value) = (self.column(is_bytes)?, self.text()?);
        if self.columns.is_text(to as usize) && std::str::from_utf8(value).is_err() {
            return Err("the text is no UTF-8".to_owned());
        }
        Ok(Step::PutBytes { to, value: value.into() })
    }

    fn number(&self) -> Result<Step, String> {
        let (bits, times, by) = (self.numbers[1], self.numbers[2], self.numbers[3]);
        let to = self.to(|values| match values {
            Values::Int32(_) => bits == 32 && times == 1 && by == 1,
            Values::Int64(_) => true,
            Values::Float32(_) | Values::Float64(_) => times == 1 && by == 1,
            _ => false,
        })?;
        if (bits != 32 && bits != 64) || times < 1 || by < 1 {
            return Err("32 or 64 bits, times and divided by one at least, are expected".to_owned());
        }
        Ok(Step::Number { to, long: bits == 64, times, by })
    }

    fn put_number(&self) -> Result<Step, String> {
        let value = self.numbers[1];
        let to = self.column(|values| match values {
            Values::Int32(_) => i32::try_from(value).is_ok(),
            Values::Int64(_) => true,
            _ => false,
        })?;
        Ok(Step::PutNumber { to, value })
    }

    fn map(&self) -> Result<Step, String> {
        let to = self.to(|values| matches!(values, Values::Repeated { parts, .. } if parts.len() == 2))?;
        let keys = match to.map(|column| self.columns.values(column as usize)) {
            Some(Values::Repeated { parts, .. }) => parts[0] as u32,
            _ => 0,
        };
        Ok(Step::Map { to, keys, value: self.before(1)?, each: self.natural(2)? })
    }

    fn member(&self) -> Result<Step, String> {
        let to = self.column(|values| matches!(values, Values::Struct { .. }))?;
        let which = self.natural(1)?;
        let members: Vec<u32> = match self.columns.values(to as usize) {
            Values::Struct { members } => members.iter().map(|&member| member as u32).collect(),
            _ => Vec::new(),
        };
        if which >= members.len() {
            return Err(format!("the column {to} has no member {which}"));
        }
        let others = members.iter().enumerate().filter(|(at, _)| *at != which).map(|(_, &member)| member).collect();
        Ok(Step::Member { to, others, step: self.before(2)? })
    }
}

pub(crate) fn is_bytes(values: &Values) -> bool {
    matches!(values, Values::Bytes { .. })
}
