//! What has to hold whatever Python asks for. Miri runs these, too; what is decoded is tested from Python.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field};

use crate::columns::Columns;
use crate::payload::Payload;
use crate::program::{Instruction, Steps};
use crate::run::{Limits, Reader};

const LIMITS: Limits = Limits { bytes: 1_000, values: 100, depth: 8, batch: 300, trailing: false };

fn field(name: &str, kind: DataType) -> Field {
    Field::new(name, kind, true)
}

fn instruction(name: &str, numbers: &[i64], texts: &[&[u8]]) -> Instruction {
    (name.to_owned(), numbers.to_vec(), texts.iter().map(|text| Some(text.to_vec())).collect())
}

/// Rows of a text and a list of numbers; which were read; the array of all.
fn read(payloads: &[&[u8]]) -> (Vec<bool>, ArrayRef) {
    let items = DataType::List(field("item", DataType::Int64).into());
    let kind = DataType::Struct(vec![field("text", DataType::Utf8), field("numbers", items)].into());
    let mut columns = Columns::of(&kind).unwrap();
    let program = [
        instruction("text", &[1], &[]),
        instruction("number", &[3, 64, 1, 1], &[]),
        instruction("array", &[2, 1, 1], &[]),
        instruction("record", &[0, 0, 2], &[]),
    ];
    let mut steps = Steps::default();
    let start = steps.add(&program, &columns).unwrap();
    let mut reader = Reader::new(&steps, &mut columns, &LIMITS);
    let fine = payloads.iter().map(|payload| reader.row(payload, start).unwrap()).collect();
    (fine, columns.take().unwrap())
}

#[test]
fn a_row_that_fails_leaves_a_null_and_nothing_else() {
    let good: &[u8] = b"\x06abc\x04\x02\x04\x00";
    let cut = &good[..good.len() - 1];
    let no_text = b"\x04\xff\xfe\x00";
    let many = b"\x02a\x02\x02\x80";
    let (fine, rows) = read(&[good, cut, no_text, many, b"", good]);
    assert_eq!(fine, [true, false, false, false, false, true]);
    assert_eq!((rows.len(), rows.null_count()), (6, 4));
    let texts = rows.as_struct().column(0).as_string::<i32>();
    assert_eq!(texts.values().as_ref(), b"abcabc");
    assert_eq!(texts.iter().flatten().collect::<Vec<_>>(), ["abc", "abc"]);
    let numbers = rows.as_struct().column(1).as_list::<i32>();
    assert_eq!(numbers.value_offsets(), [0, 2, 2, 2, 2, 2, 4]);
    assert_eq!(numbers.values().as_primitive::<Int64Type>().values().as_ref(), [1, 2, 1, 2]);
}

#[test]
fn values_are_counted_before_they_are_made() {
    let mut row = b"\x00\xca\x01".to_vec(); // a block of 101
    row.extend([0; 102]);
    assert_eq!(read(&[&row]).0, [false]);
    let mut most = b"\x00\xc8\x01".to_vec(); // of 100
    most.extend([0; 101]);
    assert_eq!(read(&[&most, &most, &most]).0, [true, true, true]);
}

#[test]
fn columns_are_empty_when_they_were_taken() {
    let mut columns = Columns::of(&DataType::Struct(vec![field("text", DataType::Utf8)].into())).unwrap();
    for text in ["é", "", "second"] {
        columns.mark(0);
        columns.bytes(1, text.as_bytes()).unwrap();
        let rows = columns.take().unwrap();
        assert_eq!(rows.as_struct().column(0).as_string::<i32>().iter().collect::<Vec<_>>(), [Some(text)]);
    }
    assert_eq!(columns.take().unwrap().len(), 0);
}

#[test]
fn numbers_are_refused_beyond_their_bits() {
    let least = b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    assert_eq!(Payload::new(least).long().unwrap(), i64::MIN);
    assert!(Payload::new(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x03").long().is_err());
    assert!(Payload::new(&[0x80; 11]).long().is_err());
    assert_eq!(Payload::new(b"\xff\xff\xff\xff\x0f").int().unwrap(), i64::from(i32::MIN));
    assert!(Payload::new(b"\xff\xff\xff\xff\x1f").int().is_err());
    assert!(Payload::new(b"\x01").natural().is_err());
    assert!(Payload::new(b"").long().is_err());
    assert!(Payload::new(b"\x02").boolean().is_err());
    assert!(Payload::new(least).take(usize::MAX).is_err());
}

/// A message of a repeated number and a text, by the numbers 1 and 2.
fn messages(payloads: &[&[u8]]) -> (Vec<bool>, ArrayRef) {
    let items = DataType::List(field("item", DataType::Int64).into());
    let kind = DataType::Struct(vec![field("numbers", items), field("text", DataType::Utf8)].into());
    let mut columns = Columns::of(&kind).unwrap();
    let program = [
        instruction("scalar", &[2, 3], &[]),
        instruction("several", &[1, 1, 0, 0], &[]),
        instruction("scalar", &[3, 9], &[]),
        instruction("null", &[3], &[]),
        instruction("single", &[2, 2, 0, 2, 3], &[]),
        instruction("message", &[0, 2, 1, 4], &[]),
    ];
    let mut steps = Steps::default();
    let start = steps.add(&program, &columns).unwrap();
    let mut reader = Reader::new(&steps, &mut columns, &LIMITS);
    let fine = payloads.iter().map(|payload| reader.row(payload, start).unwrap()).collect();
    (fine, columns.take().unwrap())
}

#[test]
fn fields_come_in_any_order_packed_or_not_and_what_fails_leaves_nothing() {
    let (fine, rows) = messages(&[
        b"\x08\x01\x12\x01a\x0a\x02\x02\x03",
        b"\x08\x01\x12\x02\xff\xfe",
        b"\x0a\x02\x02\x80",
        b"\x12\x01a\x12\x01b",
        b"\x18\x05\x12\x01z",
        b"",
    ]);
    assert_eq!(fine, [true, false, false, false, true, true]);
    let numbers = rows.as_struct().column(0).as_list::<i32>();
    assert_eq!(numbers.value_offsets(), [0, 3, 3, 3, 3, 3, 3]);
    assert_eq!(numbers.values().as_primitive::<Int64Type>().values().as_ref(), [1, 2, 3]);
    let texts = rows.as_struct().column(1).as_string::<i32>();
    assert_eq!(texts.iter().collect::<Vec<_>>(), [Some("a"), None, None, None, Some("z"), None]);
}
