//! Payloads of Avro and Protobuf → columns, by the plans that Python makes: `sigla_pipelines.land.decoders.native`.

#![deny(unsafe_code)]

#[forbid(unsafe_code)]
pub mod columns;
#[forbid(unsafe_code)]
pub mod payload;
#[forbid(unsafe_code)]
pub mod program;
#[forbid(unsafe_code)]
mod protobuf;
#[cfg(feature = "python")]
mod python;
#[forbid(unsafe_code)]
pub mod run;
#[cfg(test)]
mod tests;
mod unchecked;
