//! What Python sees: `Native`, the columns of one reader and the programs of its writers.

use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, make_array};
use arrow_buffer::BooleanBufferBuilder;
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::{ArrowError, DataType};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

use crate::columns::{Columns, NoRoom};
use crate::program::{self, Instruction, Operand, StepNumber, Steps};
use crate::run::{Limits, Reader};

create_exception!(sigla_native, TooMuch, PyException, "Together the payloads would become more than may be held.");

/// The columns of one reader, and the programs of its writers. Threads take turns.
#[pyclass(frozen)]
struct Native(Mutex<Held>);

struct Held {
    columns: Columns,
    steps: Steps,
    programs: Vec<StepNumber>,
    limits: Limits,
}

#[pymethods]
impl Native {
    /// kind: a StructType of pyarrow's. bytes: of one payload. values: of items and entries of one; batch: of all at once.
    /// depth: of Protobuf's messages within messages; the others' are in their programs. trailing: bytes after a value.
    #[new]
    fn new(
        kind: &Bound<'_, PyAny>,
        bytes: usize,
        values: usize,
        batch: usize,
        depth: usize,
        trailing: bool,
    ) -> PyResult<Native> {
        let columns = Columns::of(&DataType::from_pyarrow_bound(kind)?).map_err(failed)?;
        let limits = Limits { bytes, values, depth, batch, trailing };
        Ok(Native(Mutex::new(Held { columns, steps: Steps::default(), programs: Vec::new(), limits })))
    }

    /// The number by which `decode` knows a program. Raises ValueError.
    fn add(&self, py: Python<'_>, program: Vec<Instruction>) -> PyResult<usize> {
        py.detach(|| self.held().add(&program))
    }

    /// payloads: binary or large_binary. programs: int32, of each. Both without nulls.
    ///
    /// What comes of them: a StructArray with a null for each row that was refused; which those are; how many values of
    /// items and entries there are. Raises TooMuch.
    fn decode<'py>(
        &self,
        py: Python<'py>,
        payloads: &Bound<'py, PyAny>,
        programs: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, usize)> {
        let (payloads, programs) = (imported(payloads)?, imported(programs)?);
        let (rows, refused, values) = py.detach(|| self.held().decoded(payloads, programs))?;
        Ok((rows.to_pyarrow(py)?, refused.to_pyarrow(py)?, values))
    }
}

impl Native {
    /// Waited for without Python's lock, or two threads would wait for each other. A panic leaves nothing that counts:
    /// the next batch begins with empty columns.
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn add(&mut self, program: &[Instruction]) -> PyResult<usize> {
        self.programs.push(self.steps.add(program, &self.columns).map_err(PyValueError::new_err)?);
        Ok(self.programs.len() - 1)
    }

    fn decoded(&mut self, payloads: ArrayData, programs: ArrayData) -> PyResult<(ArrayData, ArrayData, usize)> {
        self.columns.keep(0, 0); // what an error may have left
        let (payloads, programs) = (make_array(payloads), make_array(programs));
        let numbers = programs
            .as_primitive_opt::<arrow_array::types::Int32Type>()
            .filter(|numbers| numbers.null_count() == 0 && numbers.len() == payloads.len())
            .ok_or_else(|| PyValueError::new_err("programs: int32 is expected, for each payload"))?
            .values();
        let starts = numbers
            .iter()
            .map(|&number| usize::try_from(number).ok().and_then(|at| self.programs.get(at)).copied())
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| PyValueError::new_err("programs: there is no such program"))?;
        let mut reader = Reader::new(&self.steps, &mut self.columns, &self.limits);
        let mut refused = BooleanBufferBuilder::new(starts.len());
        let found = match payloads.data_type() {
            DataType::Binary => read_all(&mut reader, payloads.as_binary::<i32>().iter(), &starts, &mut refused),
            DataType::LargeBinary => read_all(&mut reader, payloads.as_binary::<i64>().iter(), &starts, &mut refused),
            other => return Err(PyValueError::new_err(format!("payloads: {other}, and binary is expected"))),
        };
        found.map_err(|NoRoom| TooMuch::new_err(()))?;
        let values = reader.values();
        let rows = self.columns.take().map_err(failed)?;
        Ok((rows.to_data(), BooleanArray::new(refused.finish(), None).to_data(), values))
    }
}

fn read_all<'a>(
    reader: &mut Reader,
    payloads: impl Iterator<Item = Option<&'a [u8]>>,
    starts: &[StepNumber],
    refused: &mut BooleanBufferBuilder,
) -> Result<(), NoRoom> {
    for (payload, &start) in payloads.zip(starts) {
        refused.append(!reader.row(payload.unwrap_or_default(), start)?);
    }
    Ok(())
}

fn imported(array: &Bound<'_, PyAny>) -> PyResult<ArrayData> {
    ArrayData::from_pyarrow_bound(array)
}

fn failed(problem: ArrowError) -> PyErr {
    PyValueError::new_err(problem.to_string())
}

/// Every instruction: its name, what its numbers are, and whether it has texts.
fn instructions() -> Vec<(&'static str, Vec<&'static str>, bool)> {
    let named = |operand: &Operand| match operand {
        Operand::Column => "column",
        Operand::Step => "step",
        Operand::Figure => "figure",
        Operand::Many => "steps",
        Operand::Figures => "figures",
    };
    program::TABLE.iter().map(|(name, operands, texts)| (*name, operands.iter().map(named).collect(), *texts)).collect()
}

#[pymodule]
fn sigla_native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("INSTRUCTIONS", instructions())?;
    module.add("TooMuch", module.py().get_type::<TooMuch>())?;
    module.add_class::<Native>()
}
