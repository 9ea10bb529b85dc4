//! The columns of a reader, as buffers that grow row by row and become arrays of Arrow's.
//!
//! Columns are numbered as a type is read: a struct, then all of its first member, then all of the second, and so on.
//! The one with the number 0 is the struct of the whole record. A row that fails half-way is taken back with `keep`.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, ListArray, MapArray, PrimitiveArray,
    StructArray, TimestampMicrosecondArray,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, NullBufferBuilder, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, TimeUnit};

use crate::unchecked;

/// More than arrays hold together, or more than a batch may become.
#[derive(Debug)]
pub struct NoRoom;

pub enum Values {
    Boolean(BooleanBufferBuilder),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float32(Vec<f32>),
    Float64(Vec<f64>),
    Decimal(Vec<i128>),
    /// Bytes, and texts, which are known to be UTF-8 before they come here.
    Bytes {
        ends: Vec<i32>,
        data: Vec<u8>,
    },
    Struct {
        members: Vec<usize>,
    },
    /// A list, whose part is the column of items, or a map, whose parts are those of keys and of values.
    Repeated {
        ends: Vec<i32>,
        parts: Vec<usize>,
    },
}

impl Values {
    /// What a large row that was taken back has left.
    fn give_back(&mut self) {
        match self {
            Values::Int32(values) => shrink(values),
            Values::Int64(values) => shrink(values),
            Values::Float32(values) => shrink(values),
            Values::Float64(values) => shrink(values),
            Values::Decimal(values) => shrink(values),
            Values::Bytes { ends, data } => {
                shrink(ends);
                shrink(data);
            }
            Values::Repeated { ends, .. } => shrink(ends),
            Values::Boolean(_) | Values::Struct { .. } => (),
        }
    }
}

fn shrink<T>(values: &mut Vec<T>) {
    if values.capacity() > 2 * values.len() {
        values.shrink_to_fit();
    }
}

pub struct Column {
    kind: DataType,
    present: NullBufferBuilder,
    pub values: Values,
}

pub struct Columns {
    all: Vec<Column>,
}

impl Columns {
    /// Fails for a type that no column of a reader has.
    pub fn of(kind: &DataType) -> Result<Columns, ArrowError> {
        let mut made = Columns { all: Vec::new() };
        made.add(kind)?;
        Ok(made)
    }

    fn add(&mut self, kind: &DataType) -> Result<usize, ArrowError> {
        let number = self.all.len();
        let empty = Column { kind: kind.clone(), present: NullBufferBuilder::new(0), values: values_of(kind)? };
        self.all.push(empty);
        for within in within(kind) {
            let part = self.add(within.data_type())?;
            match &mut self.all[number].values {
                Values::Struct { members: parts } | Values::Repeated { parts, .. } => parts.push(part),
                _ => unreachable!("only these have types within"),
            }
        }
        Ok(number)
    }

    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub fn values(&self, column: usize) -> &Values {
        &self.all[column].values
    }

    pub fn is_text(&self, column: usize) -> bool {
        matches!(self.all[column].kind, DataType::Utf8 | DataType::LargeUtf8)
    }

    /// A column and all within it.
    pub fn width(&self, column: usize) -> usize {
        match &self.all[column].values {
            Values::Struct { members: parts } | Values::Repeated { parts, .. } => {
                1 + parts.iter().map(|&part| self.width(part)).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// Rows of a column.
    pub fn rows(&self, column: usize) -> usize {
        self.all[column].present.len()
    }

    pub fn null(&mut self, at: usize) {
        let column = &mut self.all[at];
        column.present.append_null();
        match &mut column.values {
            Values::Boolean(values) => values.append(false),
            Values::Int32(values) => values.push(0),
            Values::Int64(values) => values.push(0),
            Values::Float32(values) => values.push(0.0),
            Values::Float64(values) => values.push(0.0),
            Values::Decimal(values) => values.push(0),
            Values::Bytes { ends, .. } | Values::Repeated { ends, .. } => ends.push(ends[ends.len() - 1]),
            Values::Struct { members } => {
                for member in members.clone() {
                    self.null(member);
                }
            }
        }
    }

    /// A row of a struct is there; its members are still to come.
    #[inline]
    pub fn mark(&mut self, at: usize) {
        self.all[at].present.append_non_null();
    }

    #[inline]
    pub fn boolean(&mut self, at: usize, value: bool) {
        let column = &mut self.all[at];
        column.present.append_non_null();
        if let Values::Boolean(values) = &mut column.values {
            values.append(value);
        }
    }

    /// A number that the column can hold: `check` of a program sees to that.
    #[inline]
    pub fn number(&mut self, at: usize, value: i64) {
        let column = &mut self.all[at];
        column.present.append_non_null();
        match &mut column.values {
            Values::Int32(values) => values.push(value as i32),
            Values::Int64(values) => values.push(value),
            Values::Float32(values) => values.push(value as f64 as f32), // as Python's floats do it
            Values::Float64(values) => values.push(value as f64),
            _ => (),
        }
    }

    #[inline]
    pub fn float(&mut self, at: usize, value: f64) {
        let column = &mut self.all[at];
        column.present.append_non_null();
        match &mut column.values {
            Values::Float32(values) => values.push(value as f32),
            Values::Float64(values) => values.push(value),
            _ => (),
        }
    }

    pub fn decimal(&mut self, at: usize, value: i128) {
        let column = &mut self.all[at];
        column.present.append_non_null();
        if let Values::Decimal(values) = &mut column.values {
            values.push(value);
        }
    }

    #[inline]
    pub fn bytes(&mut self, at: usize, value: &[u8]) -> Result<(), NoRoom> {
        let column = &mut self.all[at];
        if let Values::Bytes { ends, data } = &mut column.values {
            let end = i32::try_from(data.len() + value.len()).map_err(|_| NoRoom)?;
            data.extend_from_slice(value);
            ends.push(end);
        }
        column.present.append_non_null();
        Ok(())
    }

    /// A row of a list or a map, whose items were appended already.
    #[inline]
    pub fn repeated(&mut self, at: usize, count: usize) -> Result<(), NoRoom> {
        let column = &mut self.all[at];
        if let Values::Repeated { ends, .. } = &mut column.values {
            let end = i32::try_from(ends[ends.len() - 1] as usize + count).map_err(|_| NoRoom)?;
            ends.push(end);
        }
        column.present.append_non_null();
        Ok(())
    }

    /// Rows of a column of bytes.
    pub fn slice(&self, at: usize, rows: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let (ends, data): (&[i32], &[u8]) = match &self.all[at].values {
            Values::Bytes { ends, data } => (&ends[rows.start..=rows.end], data),
            _ => (&[], &[]),
        };
        ends.windows(2).map(move |edges| &data[edges[0] as usize..edges[1] as usize])
    }

    /// Forgets what came after so many rows.
    pub fn keep(&mut self, at: usize, rows: usize) {
        let column = &mut self.all[at];
        column.present.truncate(rows);
        match &mut column.values {
            Values::Boolean(values) => values.truncate(rows),
            Values::Int32(values) => values.truncate(rows),
            Values::Int64(values) => values.truncate(rows),
            Values::Float32(values) => values.truncate(rows),
            Values::Float64(values) => values.truncate(rows),
            Values::Decimal(values) => values.truncate(rows),
            Values::Bytes { ends, data } => {
                ends.truncate(rows + 1);
                data.truncate(ends[ends.len() - 1] as usize);
            }
            Values::Struct { members } => {
                for member in members.clone() {
                    self.keep(member, rows);
                }
            }
            Values::Repeated { ends, parts } => {
                ends.truncate(rows + 1);
                let kept = ends[ends.len() - 1] as usize;
                for part in parts.clone() {
                    self.keep(part, kept);
                }
            }
        }
    }

    /// All rows as an array; the columns are empty then.
    pub fn take(&mut self) -> Result<ArrayRef, ArrowError> {
        self.taken(0)
    }

    fn taken(&mut self, at: usize) -> Result<ArrayRef, ArrowError> {
        let column = &mut self.all[at];
        let rows = column.present.len();
        let nulls = column.present.finish();
        let kind = column.kind.clone();
        let mut values = std::mem::replace(&mut column.values, values_of(&kind)?);
        values.give_back();
        match values {
            Values::Boolean(mut values) => Ok(Arc::new(BooleanArray::new(values.finish(), nulls))),
            Values::Int32(values) => match kind {
                DataType::Date32 => Ok(Arc::new(Date32Array::new(values.into(), nulls))),
                _ => Ok(Arc::new(PrimitiveArray::<Int32Type>::new(values.into(), nulls))),
            },
            Values::Int64(values) => match kind {
                DataType::Timestamp(TimeUnit::Microsecond, zone) => {
                    Ok(Arc::new(TimestampMicrosecondArray::new(values.into(), nulls).with_timezone_opt(zone)))
                }
                _ => Ok(Arc::new(PrimitiveArray::<Int64Type>::new(values.into(), nulls))),
            },
            Values::Float32(values) => Ok(Arc::new(PrimitiveArray::<Float32Type>::new(values.into(), nulls))),
            Values::Float64(values) => Ok(Arc::new(PrimitiveArray::<Float64Type>::new(values.into(), nulls))),
            Values::Decimal(values) => match kind {
                DataType::Decimal128(precision, scale) => {
                    Ok(Arc::new(Decimal128Array::new(values.into(), nulls).with_precision_and_scale(precision, scale)?))
                }
                _ => unreachable!("a decimal has no other type"),
            },
            Values::Bytes { ends, data } => bytes_array(&kind, ends, data, nulls),
            Values::Struct { members } => {
                let fields = fields_of(&kind);
                let arrays = members.iter().map(|&member| self.taken(member)).collect::<Result<Vec<_>, _>>()?;
                self.put_back(at, Values::Struct { members });
                Ok(Arc::new(StructArray::try_new_with_length(fields, arrays, nulls, rows)?))
            }
            Values::Repeated { ends, parts } => {
                let arrays = parts.iter().map(|&part| self.taken(part)).collect::<Result<Vec<_>, _>>()?;
                self.put_back(at, Values::Repeated { ends: vec![0], parts });
                repeated_array(&kind, ends, arrays, nulls)
            }
        }
    }

    fn put_back(&mut self, at: usize, values: Values) {
        self.all[at].values = values;
    }
}

fn values_of(kind: &DataType) -> Result<Values, ArrowError> {
    Ok(match kind {
        DataType::Boolean => Values::Boolean(BooleanBufferBuilder::new(0)),
        DataType::Int32 | DataType::Date32 => Values::Int32(Vec::new()),
        DataType::Int64 | DataType::Timestamp(TimeUnit::Microsecond, _) => Values::Int64(Vec::new()),
        DataType::Float32 => Values::Float32(Vec::new()),
        DataType::Float64 => Values::Float64(Vec::new()),
        DataType::Decimal128(_, _) => Values::Decimal(Vec::new()),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary => Values::Bytes { ends: vec![0], data: Vec::new() },
        DataType::Struct(_) => Values::Struct { members: Vec::new() },
        DataType::List(_) | DataType::Map(_, _) => Values::Repeated { ends: vec![0], parts: Vec::new() },
        other => return Err(ArrowError::SchemaError(format!("no column of a reader is {other}"))),
    })
}

/// The fields whose columns a column consists of.
fn within(kind: &DataType) -> Vec<FieldRef> {
    match kind {
        DataType::List(item) => vec![item.clone()],
        DataType::Struct(_) | DataType::Map(_, _) => fields_of(kind).iter().cloned().collect(),
        _ => Vec::new(),
    }
}

/// The members of a struct, or of the entries of a map.
fn fields_of(kind: &DataType) -> Fields {
    match kind {
        DataType::Struct(fields) => fields.clone(),
        DataType::Map(entries, _) => fields_of(entries.data_type()),
        _ => Fields::empty(),
    }
}

fn bytes_array(
    kind: &DataType,
    ends: Vec<i32>,
    data: Vec<u8>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let data = Buffer::from_vec(data);
    if let DataType::LargeUtf8 = kind {
        let ends: Vec<i64> = ends.into_iter().map(i64::from).collect();
        return Ok(unchecked::texts(OffsetBuffer::new(ScalarBuffer::from(ends)), data, nulls));
    }
    let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
    match kind {
        DataType::Utf8 => Ok(unchecked::texts(ends, data, nulls)),
        _ => Ok(Arc::new(BinaryArray::try_new(ends, data, nulls)?)),
    }
}

fn repeated_array(
    kind: &DataType,
    ends: Vec<i32>,
    mut parts: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, ArrowError> {
    let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
    match kind {
        DataType::Map(entries, sorted) => {
            let rows = parts[0].len();
            let pairs = StructArray::try_new_with_length(fields_of(kind), parts, None, rows)?;
            Ok(Arc::new(MapArray::try_new(entries.clone(), ends, pairs, nulls, *sorted)?))
        }
        DataType::List(item) => Ok(Arc::new(ListArray::try_new(item.clone(), ends, parts.remove(0), nulls)?)),
        other => Err(ArrowError::SchemaError(format!("{other} has no items"))),
    }
}
