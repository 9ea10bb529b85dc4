//! Avro's payloads → columns, by the plans that Python makes: `sigla_pipelines.land.decoders.avro_native`.

#![deny(unsafe_code)]

pub mod columns;
pub mod payload;
pub mod program;
#[cfg(feature = "python")]
mod python;
pub mod run;
#[cfg(test)]
mod tests;
mod unchecked;
